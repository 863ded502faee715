/**
 * What VS Code's Remote-SSH does: a script through the standard input of `ssh -T -D PORT HOST bash`, which unpacks and
 * starts a server, once, and prints where it listens. The editor then connects through the SOCKS proxy. After a broken
 * connection the same script finds the server that runs.
 */
import { once } from 'node:events'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { eventually, must, type Setting } from './setting.ts'
import { packVscodeServer, serverVersion } from './vscode-server.ts'

const bootstrap = (token: string): string => `
set -u
root=$HOME/.vscode-server/bin/${serverVersion}
mkdir -p "$root"
exec 9>"$root.lock"; flock 9
if [ ! -f "$root/out/server-main.js" ]; then
  tar -xzf "$HOME/vscode-server.tar.gz" -C "$root" --no-same-owner || { echo "error: tar"; exit 31; }
fi
if ! { [ -f "$root.pid" ] && kill -0 "$(cat "$root.pid")" 2>/dev/null; }; then
  umask 077; echo '${token}' >"$root.token"
  "$root/node" "$root/out/server-main.js" --start-server --host=127.0.0.1 --port=0 --accept-server-license-terms \\
    --connection-token-file "$root.token" --enable-remote-auto-shutdown >"$root.log" 2>&1 9>&- </dev/null &
  echo $! >"$root.pid"
fi
for _ in $(seq 600); do
  port=$(grep -oE 'listening on [0-9]+' "$root.log" | grep -oE '[0-9]+') && break
  sleep 0.2
done
echo "${token}: start"
echo "listeningOn==$port=="
echo "osReleaseId==$(. /etc/os-release; echo $ID)=="
echo "arch==$(uname -m)=="
echo "pid==$(cat "$root.pid")=="
echo "${token}: end"
flock -u 9
while read -r line; do echo "pong $line"; done
`

type Session = { socks: number; port: number; pid: number; ping(): Promise<void>; kill(): Promise<void> }

const openSession = async (setting: Setting, token: string): Promise<Session> => {
  const socks = await freePort()
  const child = setting.start('ssh', [
    ...setting.options,
    ...['-T', '-D', String(socks), '-o', 'ConnectTimeout=15', setting.host, 'bash'],
  ])
  let output = ''
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString()
  })
  child.stdin.write(bootstrap(token))
  const found = await eventually(
    'the end of the script',
    async () => (output.includes(`${token}: end`) ? output : undefined),
    150_000,
  )
  const printed = (name: string): string => new RegExp(`${name}==(.*)==`).exec(found)?.[1] ?? ''
  must(printed('arch') === 'x86_64' && printed('osReleaseId') !== '', `the script printed ${found}`)
  return {
    socks,
    port: Number(printed('listeningOn')),
    pid: Number(printed('pid')),
    ping: async () => {
      child.stdin.write('here\n')
      await eventually('the echo of the session', async () => output.includes('pong here') || undefined)
    },
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

/** Proves it, and returns what the line of the proof says. */
export async function proveRemoteSsh(setting: Setting): Promise<string> {
  const archive = await packVscodeServer(setting.folder)
  await setting.run('scp', [...setting.options, '-q', archive, `${setting.host}:`])
  const token = 'c0ffee00-1111-4222-8333-444455556666'
  const answerOf = async ({ socks, port }: Session, path: string): Promise<string> =>
    setting.run('curl', [
      ...[
        '--silent',
        '--show-error',
        '--socks5-hostname',
        `127.0.0.1:${socks}`,
        '--write-out',
        ' %{http_code}',
      ],
      `http://127.0.0.1:${port}${path}`,
    ])
  const begin = performance.now()
  const first = await openSession(setting, token)
  const seconds = (performance.now() - begin) / 1000
  must((await answerOf(first, '/version')).endsWith(' 200'), 'the server did not respond through the proxy')
  must((await answerOf(first, '/?tkn=wrong')).endsWith(' 403'), 'the server took a wrong token')
  await first.ping()
  await first.kill()
  const again = performance.now()
  const second = await openSession(setting, token)
  const secondsAgain = (performance.now() - again) / 1000
  must(second.pid === first.pid && second.port === first.port, 'the hang-up ended the server')
  must((await answerOf(second, '/version')).endsWith(' 200'), 'the server is gone after the reconnect')
  await second.ping()
  await second.kill()
  await setting.look('pkill -f server-[m]ain.js || true')
  return `the server was started in ${seconds.toFixed(1)} s and found again in ${secondsAgain.toFixed(1)} s after the connection was lost`
}

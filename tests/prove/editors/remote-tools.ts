/**
 * What JetBrains and Zed do. JetBrains: the sftp subsystem, and short commands that look at the machine. Zed: one shared
 * connection, an upload of its program through it, and several sessions that talk to that program.
 */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, must, type Setting } from './setting.ts'

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const sessions = 6

/** Proves it, and returns what the line of the proof says. */
export async function proveJetBrains(setting: Setting): Promise<string> {
  const facts = await setting.ssh(
    `sh -c 'uname -sm; getconf GNU_LIBC_VERSION; id -un; echo "$SHELL"; echo "$HOME"'`,
  )
  must(
    /^Linux x86_64\nglibc 2\.\d+\nuser\n\/bin\/bash\n\/home\/user\n$/.test(facts),
    `the machine says ${facts}`,
  )
  await setting.ssh(
    'df -Pk "$HOME"; nproc; free -m; ldd --version; printenv PATH; command -v tar gzip unzip sha256sum flock',
  )
  const backend = randomBytes(40_000_000)
  await writeFile(join(setting.folder, 'backend'), backend)
  const batch = `
    -mkdir .cache/JetBrains
    -mkdir .cache
    -mkdir .cache/JetBrains
    put backend .cache/JetBrains/backend.part
    rename .cache/JetBrains/backend.part .cache/JetBrains/backend
    chmod 755 .cache/JetBrains/backend
    symlink backend .cache/JetBrains/current
    ls -l .cache/JetBrains
    get .cache/JetBrains/current back
    reget .cache/JetBrains/backend back
    df .
    pwd
`
  const listed = await setting.run('sftp', [...setting.options, '-b', '-', setting.host], batch)
  must(/-rwxr-xr-x .*backend/.test(listed) && /lrwx.*current/.test(listed), `sftp listed ${listed}`)
  must(sha256(await readFile(join(setting.folder, 'back'))) === sha256(backend), 'sftp changed the file')
  const sum = await setting.look('sha256sum </home/user/.cache/JetBrains/backend')
  must(sum.startsWith(sha256(backend)), 'the uploaded file differs')
  const script = 'cat >s.sh; chmod 700 s.sh; ./s.sh "a b" "c\'d"; code=$?; rm s.sh; exit $code'
  const outcome = await setting.ssh(
    `sh -c '${script.replaceAll("'", `'\\''`)}'`,
    '#!/bin/sh\nprintf "%s|" "$@"\n',
  )
  must(outcome === "a b|c'd|", `the helper printed ${outcome}`)
  return 'sftp moved 40 MB up and down, renamed, linked and listed it; helper commands ran'
}

/** Proves it, and returns what the line of the proof says. */
export async function proveZed(setting: Setting): Promise<string> {
  const socket = join(setting.folder, 'zed.sock')
  const shared = [...setting.options, '-o', `ControlPath=${socket}`]
  const master = setting.start('ssh', [
    ...shared,
    ...['-N', '-o', 'ControlMaster=yes', '-o', 'ControlPersist=no', setting.host],
  ])
  const inShared = (...args: string[]): Promise<string> =>
    setting.run('ssh', [...shared, setting.host, ...args])
  await eventually('the shared connection', async () =>
    setting.run('ssh', [...shared, '-O', 'check', setting.host]),
  )
  must((await inShared('uname', '-sm')).trim() === 'Linux x86_64', 'uname')
  await inShared('mkdir', '-p', '.zed_server')
  const begin = performance.now()
  await setting.bash(`gzip -1 <${process.execPath} >server.gz`)
  await setting.run('sftp', [...shared, '-b', '-', setting.host], 'put server.gz .zed_server/server.gz\n')
  await setting.run('scp', [...shared, '-q', 'server.gz', `${setting.host}:.zed_server/again.gz`])
  await inShared(
    "sh -c 'cd .zed_server && cmp server.gz again.gz && gunzip -f server.gz && chmod 755 server'",
  )
  const uploaded = performance.now() - begin
  const proxy = `.zed_server/server -e 'process.stdin.on("data", (text) => process.stdout.write(text))'`
  const payload = randomBytes(1_000_000)
  const talk = async (): Promise<void> => {
    const child = setting.start('ssh', [...shared, setting.host, proxy])
    const chunks: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => chunks.push(bytes))
    child.stdin.end(payload)
    const [code] = (await once(child, 'close')) as [number]
    must(code === 0 && Buffer.concat(chunks).equals(payload), `a session ended with ${code}`)
  }
  await Promise.all(Array.from({ length: sessions }, talk))
  await inShared('pgrep -x server && exit 1 || true')
  master.kill('SIGKILL')
  await once(master, 'close')
  return `a program of ${Math.round((await readFile(process.execPath)).length / 1e6)} MB was uploaded by sftp and scp in ${(uploaded / 1000).toFixed(1)} s, and ${sessions} sessions of one connection talked to it`
}

/** OpenSSH's own server on a free port of this machine, for comparison. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'

const run = promisify(execFile)
const checkout = new URL('../..', import.meta.url).pathname
const installer = join(checkout, 'script/install/open-ssh-server')

export type OpenSsh = { port: number; stop(): void }

/** Starts sshd, which root may enter with this key. Throws if it does not start. */
export async function startOpenSsh(publicKey: string): Promise<OpenSsh> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-sshd-'))
  const port = await freePort()
  await run('ssh-keygen', ['-q', '-N', '', '-t', 'ed25519', '-f', join(folder, 'host')])
  await writeFile(join(folder, 'authorized'), `${publicKey}\n`, { mode: 0o600 })
  await mkdir('/run/sshd', { recursive: true })
  const config = [
    ...[
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      'UsePAM no',
      'LogLevel ERROR',
    ],
    ...[`AuthorizedKeysFile ${join(folder, 'authorized')}`, 'StrictModes no', 'PermitRootLogin yes'],
    ...['Subsystem sftp internal-sftp', 'MaxSessions 100', `PidFile ${join(folder, 'pid')}`],
  ]
  await writeFile(join(folder, 'config'), `${config.join('\n')}\n`)
  // sshd needs a user of that name. A mount namespace of its own has one, so that this machine's list stays as it is.
  const users = await readFile('/etc/passwd', 'utf8')
  await writeFile(
    join(folder, 'passwd'),
    `${users.trim()}\nsshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n`,
  )
  const installed = (await run(installer, [join(checkout, '.tools/open-ssh-server')])).stdout.trim()
  const libraries = join(installed, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  const words = [join(folder, 'passwd'), libraries, join(installed, 'usr/sbin/sshd'), join(folder, 'config')]
  const launch = 'mount --bind "$1" /etc/passwd; LD_LIBRARY_PATH=$2 exec "$3" -D -e -f "$4"'
  const server = spawn('unshare', ['--mount', 'bash', '-c', launch, 'sshd', ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const failed = once(server, 'exit').then(() => Promise.reject(new Error('sshd does not start')))
  failed.catch(() => undefined)
  const listens = async (): Promise<void> => {
    for (;;) {
      const socket = connect(port, '127.0.0.1')
      const outcome = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false)
      socket.destroy()
      if (outcome) return
      await delay(20)
    }
  }
  await Promise.race([listens(), failed])
  return {
    port,
    stop: () => {
      server.kill()
      void rm(folder, { recursive: true, force: true })
    },
  }
}

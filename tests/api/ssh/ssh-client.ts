/** Runs the OpenSSH client of this machine against the gateway, with keys and known hosts in a folder of its own. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Outcome = { code: number | null; signal: string | null; stdout: string; stderr: string }

export type SshClient = {
  folder: string
  /** Makes a key pair and returns the public key line. `name` is the file's name. */
  makeKey(name: string, ...options: string[]): Promise<string>
  /** Returns a signature of the text by the key of the file `name`, as `ssh-keygen -Y sign` prints it. */
  sign(name: string, text: string, namespace: string): Promise<string>
  /** Options of ssh, scp and sftp that name the key and the gateway, without user and host. */
  options(key?: string): string[]
  /** Runs a program with these arguments. */
  run(program: string, args: readonly string[], input?: string | Buffer): Promise<Outcome>
  /** Runs `ssh NAME@gateway …` with the key `id`. */
  ssh(user: string, ...args: string[]): Promise<Outcome>
  start(program: string, args: readonly string[]): ChildProcessWithoutNullStreams
  remove(): Promise<void>
}

const outcomeOf = (child: ChildProcessWithoutNullStreams, input: string | Buffer): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })

export async function createSshClient(port: () => number): Promise<SshClient> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-ssh-'))
  await writeFile(join(folder, 'config'), '')
  const environment = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' }
  const options = (key = 'id'): string[] => [
    ...['-F', join(folder, 'config'), '-o', `Port=${port()}`, '-o', `IdentityFile=${join(folder, key)}`],
    ...['-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=accept-new'],
    ...['-o', `UserKnownHostsFile=${join(folder, 'known_hosts')}`, '-o', 'LogLevel=ERROR'],
  ]
  const start = (program: string, args: readonly string[]): ChildProcessWithoutNullStreams =>
    spawn(program, args, { env: environment, cwd: folder })
  const client: SshClient = {
    folder,
    options,
    start,
    makeKey: async (name, ...more) => {
      await run('ssh-keygen', ['-q', '-N', '', '-C', 'test', '-f', join(folder, name), ...more])
      return (await readFile(join(folder, `${name}.pub`), 'utf8')).trim()
    },
    sign: async (name, text, namespace) => {
      const args = ['-Y', 'sign', '-n', namespace, '-f', join(folder, name)]
      const { code, stdout, stderr } = await client.run('ssh-keygen', args, text)
      if (code !== 0) throw new Error(stderr)
      return stdout
    },
    run: (program, args, input = '') => outcomeOf(start(program, args), input),
    ssh: (user, ...args) => client.run('ssh', [...options(), '-l', user, '127.0.0.1', ...args]),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
  return client
}

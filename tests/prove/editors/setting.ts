/** A Dock, and OpenSSH configured for it as docs/ssh.md recommends. The parts of script/prove editors share it. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dock } from '@dock/contract'
import { addProvedKey } from '../../api/ssh/add-proved-key.ts'
import { createSshClient, type Outcome } from '../../api/ssh/ssh-client.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import type { Server } from '../../e2e/support/server.ts'

export type Setting = {
  server: Pick<Server, 'admin' | 'client'>
  dock: Dock
  /** The host name of the Dock in the configuration. */
  host: string
  /** The working folder of all programs. */
  folder: string
  /** `-F config`, for ssh, scp and sftp. */
  options: string[]
  /** Runs a program to its end. Throws with its stderr if it fails. Returns its stdout. */
  run(program: string, args: readonly string[], input?: string | Buffer): Promise<string>
  /** Runs a script of bash on this machine, in which `ssh`, `scp`, `sftp`, `rsync` and `git` use the configuration. */
  bash(script: string): Promise<string>
  /** Runs `ssh HOST COMMAND`. Throws if it fails. Returns its stdout. */
  ssh(command: string, input?: string | Buffer): Promise<string>
  /** Starts a program that the end of the proof ends, if nothing else does. */
  start(program: string, args: readonly string[]): ChildProcessWithoutNullStreams
  /** Runs a command in the Dock without SSH, to look at what a part did. */
  look(command: string): Promise<string>
  end(): Promise<void>
}

const succeed = (what: string, { code, stdout, stderr }: Outcome): string => {
  if (code !== 0) throw new Error(`${what} exited with ${code}: ${stderr}${stdout.slice(-2000)}`)
  return Buffer.from(stdout, 'latin1').toString('utf8')
}

/** Creates the Dock, and an SSH key of the account. */
export async function createSetting(server: Setting['server']): Promise<Setting> {
  const { ssh: gateway } = await server.client.call('readConfig', {})
  if (!gateway) throw new Error('the SSH gateway is off')
  const client = await createSshClient(() => gateway.port)
  const keyId = await addProvedKey(server.client, client, 'editors')
  const dock = await createDock(server, { cpus: 2, memoryMiB: 4096, diskGiB: 10 })
  const config = join(client.folder, 'config')
  await writeFile(
    config,
    `Host *.dock
  HostName 127.0.0.1
  Port ${gateway.port}
  ServerAliveInterval 30
  IdentityFile ${join(client.folder, 'id')}
  IdentitiesOnly yes
  BatchMode yes
  StrictHostKeyChecking accept-new
  UserKnownHostsFile ${join(client.folder, 'known_hosts')}
  LogLevel ERROR
Host editors.dock
  User ${dock.name}
`,
  )
  const options = ['-F', config]
  const started: ChildProcessWithoutNullStreams[] = []
  const host = 'editors.dock'
  const setting: Setting = {
    server,
    dock,
    host,
    folder: client.folder,
    options,
    run: async (program, args, input) =>
      succeed(`${program} ${args.join(' ')}`, await client.run(program, args, input)),
    bash: async (script) => {
      const functions = ['ssh', 'scp', 'sftp'].map(
        (name) => `${name}() { command ${name} -F ${config} "$@"; }`,
      )
      const variables = `export GIT_SSH_COMMAND='ssh -F ${config}' RSYNC_RSH='ssh -F ${config}' GIT_CONFIG_GLOBAL=/dev/null`
      return succeed(
        'bash',
        await client.run('bash', ['-c', `set -e\n${functions.join('\n')}\n${variables}\n${script}`]),
      )
    },
    ssh: (command, input) => setting.run('ssh', [...options, host, command], input),
    start: (program, args) => {
      const child = client.start(program, args)
      started.push(child)
      child.stdin.on('error', () => undefined)
      child.on('error', () => undefined)
      return child
    },
    look: (command) => run(server, dock.id, command),
    end: async () => {
      for (const child of started) child.kill('SIGKILL')
      await server.client.call('deleteSshKey', { params: { id: keyId } })
      await client.remove()
    },
  }
  return setting
}

/** Repeats `attempt` until it returns a value. Throws with the last error after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  attempt: () => Promise<T | undefined>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const value = await attempt()
      if (value !== undefined) return value
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${timeoutMs / 1000} s`, { cause: last })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Throws unless `holds`. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

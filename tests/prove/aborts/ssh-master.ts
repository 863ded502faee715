/** A connection of the OpenSSH client that stays open, for channels that come and go. */
import { join } from 'node:path'
import type { SshClient } from '../../api/ssh/ssh-client.ts'

const argumentsFor = (client: SshClient, user: string): string[] => [
  ...client.options(),
  ...['-S', join(client.folder, 'master'), '-l', user, '127.0.0.1'],
]

/** Opens the connection unless it is open. Returns the arguments with which ssh uses it. */
export async function requireMaster(client: SshClient, user: string): Promise<string[]> {
  const common = argumentsFor(client, user)
  const check = await client.run('ssh', ['-O', 'check', ...common])
  if (check.code === 0) return common
  // Its outputs must not be ours: it stays in the background.
  const opened = await client.run('sh', ['-c', 'exec ssh -M -N -f "$@" >/dev/null 2>&1', 'sh', ...common])
  if (opened.code !== 0) throw new Error(`ssh opened no connection: exit ${opened.code}`)
  return common
}

export async function endMaster(client: SshClient): Promise<void> {
  await client.run('ssh', ['-O', 'exit', ...argumentsFor(client, 'nobody')])
}

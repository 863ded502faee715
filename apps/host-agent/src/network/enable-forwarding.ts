/** Lets the host pass packets on between Docks and the outside. */
import { readFile } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'

const setting = '/proc/sys/net/ipv4/ip_forward'

/** Does nothing where it is on already. */
export async function enableForwarding(): Promise<void> {
  const current = await readFile(setting, 'utf8').catch(() => '')
  if (current.trim() === '1') return
  // The agent's own /proc/sys may hide `net` from the runtime: a proc mounted aside shows it.
  const script = `mount -t proc proc /proc && echo 1 > ${setting}`
  await runCommand('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script])
}

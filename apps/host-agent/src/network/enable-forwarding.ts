/** Enables IPv4 forwarding on the host, so that packets pass between Docks and the outside. */
import { readFile } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'

const setting = '/proc/sys/net/ipv4/ip_forward'

/** Does nothing if forwarding is already on. */
export async function enableForwarding(): Promise<void> {
  const current = await readFile(setting, 'utf8').catch(() => '')
  if (current.trim() === '1') return
  // The agent's own /proc/sys may hide `net`. A new proc mount in a namespace of its own shows it.
  const script = `mount -t proc proc /proc && echo 1 > ${setting}`
  await runCommand('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script])
}

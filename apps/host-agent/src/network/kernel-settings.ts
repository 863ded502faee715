/** Settings of the host's kernel for IPv4. */
import { readFile, writeFile } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'

const set = async (name: string, value: number): Promise<void> => {
  const path = `/proc/sys/net/ipv4/${name}`
  const current = await readFile(path, 'utf8').catch(() => '')
  if (current.trim() === `${value}`) return
  await writeFile(path, `${value}`).catch(() => {
    // The agent's own /proc/sys may hide `net` or be read-only. A new proc mount in a namespace of its own is not.
    const script = 'mount -t proc proc /proc && echo "$1" >"$0"'
    return runCommand('unshare', [
      ...['--mount', '--propagation', 'private'],
      ...['sh', '-c', script, path, `${value}`],
    ])
  })
}

const fragmentBytes = 64 * 2 ** 20

/** Gives fragments that the host puts together more memory: each Dock may take some of it. */
export async function giveFragmentsRoom(): Promise<void> {
  const name = 'ipfrag_high_thresh'
  const current = Number(await readFile(`/proc/sys/net/ipv4/${name}`, 'utf8').catch(() => 0))
  if (current < fragmentBytes) await set(name, fragmentBytes)
}

/** Lets packets pass between Docks and the outside. */
export async function enableForwarding(): Promise<void> {
  await set('ip_forward', 1)
}

/**
 * Ignores ARP requests from this interface unless they ask for its own address, from an address of its own subnet. The kernel
 * notes every asker in a table of some 1,000 neighbours that the whole host shares: a Dock that forges askers would fill it,
 * and all other Docks would lose their network.
 */
export async function ignoreForeignArp(hostInterface: string): Promise<void> {
  await set(`conf/${hostInterface}/arp_ignore`, 2)
}

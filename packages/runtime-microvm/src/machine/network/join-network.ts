/**
 * Connects a machine to the network namespace of a Dock. Its `eth0` has the Dock's address, which the guest takes over, as a
 * gVisor sandbox does: a bridge joins `eth0` to the machine's tap, and `eth0` itself has no address any more. So the host sees
 * the same address on the same interface, and packet rules, ports, nameserver and git door need no change. The machine is not
 * inside the namespace: it only holds the tap's descriptor.
 */
import { runCommand, tryCommand } from '@dock/foundation'

/** What the guest configures for its one interface, in the form in which its agent takes it. */
export type GuestNetwork = {
  address: string
  mask: string
  gateway: string
  mac: string
  mtu: number
}

/** Name of the tap in the namespace. */
export const tapName = 'vm0'
const bridgeName = 'vmbr0'
const commandTimeoutMs = 20_000
const outputBytesMax = 2 ** 20

type Link = {
  ifname: string
  mtu?: number
  addr_info?: { family: string; local: string; prefixlen: number }[]
}
type Route = { dst: string; gateway?: string }

const ip = (netnsPath: string, args: readonly string[], input = ''): Promise<string> =>
  runCommand('nsenter', [`--net=${netnsPath}`, 'ip', ...args], {
    input,
    outputBytesMax,
    timeoutMs: commandTimeoutMs,
  })

/** Returns a MAC address that a namespace's guests always have, so that no neighbour remembers another one. */
export function guestMac(address: string): string {
  const bytes = address.split('.').map((each) => Number(each).toString(16).padStart(2, '0'))
  return `02:d0:${bytes.join(':')}`
}

const maskOf = (bits: number): string =>
  [24, 16, 8, 0].map((shift) => ((0xffff_ffff << (32 - bits)) >>> shift) & 0xff).join('.')

/** Returns what the guest must configure, from the addresses and routes of the namespace. */
export async function readGuestNetwork(netnsPath: string): Promise<GuestNetwork> {
  const [links, routes] = await Promise.all([
    ip(netnsPath, ['-json', '-4', 'address', 'show', 'dev', 'eth0']),
    ip(netnsPath, ['-json', '-4', 'route', 'show', 'default']),
  ])
  const [link] = JSON.parse(links || '[]') as Link[]
  const found = link?.addr_info?.find(({ family }) => family === 'inet')
  const gateway = (JSON.parse(routes || '[]') as Route[]).find(({ dst }) => dst === 'default')?.gateway
  if (!link || !found || !gateway)
    throw new Error(`the network namespace ${netnsPath} has no address or gateway`)
  return {
    address: found.local,
    mask: maskOf(found.prefixlen),
    gateway,
    mac: guestMac(found.local),
    mtu: link.mtu ?? 1500,
  }
}

/** Joins the tap, which must exist, to the namespace's interface, and takes the address from that. */
export async function joinTap(netnsPath: string, mtu: number): Promise<void> {
  const commands = [
    'address flush dev eth0',
    // It learns nothing and remembers nothing: there are only two ends.
    `link add name ${bridgeName} mtu ${mtu} type bridge stp_state 0 forward_delay 0 ageing_time 0 mcast_snooping 0`,
    `link set dev ${bridgeName} addrgenmode none`,
    `link set dev ${tapName} addrgenmode none mtu ${mtu}`,
    `link set dev eth0 master ${bridgeName}`,
    `link set dev ${tapName} master ${bridgeName}`,
    `link set dev ${tapName} up`,
    `link set dev ${bridgeName} up`,
  ]
  await ip(netnsPath, ['-batch', '-'], `${commands.join('\n')}\n`)
}

/** Removes the bridge of a machine that has ended. Its tap is gone already. The address stays away, as after a sandbox. */
export async function leaveNetwork(netnsPath: string): Promise<void> {
  // It fails without a bridge or namespace, which is as good.
  await tryCommand('nsenter', [`--net=${netnsPath}`, 'ip', 'link', 'delete', 'dev', bridgeName], {
    timeoutMs: commandTimeoutMs,
  })
}

/** Reads the host's own networks, to choose the Docks' subnet and to close these networks to Docks. */
import { readFile } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'
import { interfaceFamily } from './filter-rules.ts'
import { type Cidr, parseCidr } from './ipv4.ts'

type Route = { type?: string; dst: string; dev?: string; gateway?: string; via?: unknown; scope?: string }

export type HostRoutes = {
  /** Ranges of all routes, addresses and resolvers of the host, except those of this instance's interfaces. */
  taken: Cidr[]
  /** Ranges of the networks that the host is directly attached to. */
  neighbours: Cidr[]
  /** MTU of the default route, in bytes. */
  mtu: number
}

const readJson = async <T>(args: readonly string[]): Promise<T[]> => {
  const text = await runCommand('ip', ['-json', ...args])
  return JSON.parse(text.trim() || '[]') as T[]
}

const toCidrs = (texts: readonly string[]): Cidr[] =>
  texts.map(parseCidr).filter((cidr) => cidr !== undefined)

/** `ownInterfaces`: prefix of the instance's own interfaces. `ownSubnet`: its subnet, if it has one. */
export async function readHostRoutes(ownInterfaces: string, ownSubnet?: string): Promise<HostRoutes> {
  const routes = await readJson<Route>(['-4', 'route', 'show', 'table', 'all'])
  const links = await readJson<{ ifname: string; mtu: number }>(['link', 'show'])
  const resolvConf = await readFile('/etc/resolv.conf', 'utf8').catch(() => '')
  const resolvers = [...resolvConf.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '')
  const own = ownSubnet === undefined ? undefined : parseCidr(ownSubnet)
  const isOwn = ({ dev, dst, type }: Route): boolean => {
    if (dev?.startsWith(ownInterfaces)) return true
    if (type === 'blackhole') return dst === ownSubnet
    // The name forwarder's address.
    return dev === 'lo' && own !== undefined && parseCidr(dst)?.base === own.base + 1
  }
  const foreign = routes.filter((route) => !isOwn(route))
  const attached = foreign.filter(
    ({ scope, type = 'unicast', dev = '', gateway, via }) =>
      type === 'unicast' &&
      scope === 'link' &&
      !gateway &&
      !via &&
      dev !== 'lo' &&
      !dev.startsWith(interfaceFamily),
  )
  const outward = routes.find(({ dst }) => dst === 'default')?.dev
  return {
    taken: toCidrs([...foreign.map(({ dst }) => dst), ...resolvers]),
    neighbours: toCidrs(attached.map(({ dst }) => dst)),
    mtu: Math.min(1500, links.find(({ ifname }) => ifname === outward)?.mtu ?? 1500),
  }
}

/** Returns the /16 of the Docks' gateways on this instance's interfaces, or undefined if there are none. */
export async function readOwnSubnet(ownInterfaces: string): Promise<Cidr | undefined> {
  const links = await readJson<{ ifname?: string; addr_info?: { local?: string }[] }>([
    '-4',
    'address',
    'show',
  ])
  const gateway = links.find(({ ifname }) => ifname?.startsWith(ownInterfaces))?.addr_info?.[0]?.local
  return gateway === undefined ? undefined : parseCidr(`${gateway}/16`)
}

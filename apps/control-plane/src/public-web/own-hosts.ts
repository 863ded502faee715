/**
 * The operator's own networks and hosts, which requests may reach besides the public internet. This machine, loopback
 * and the metadata servers of clouds stay closed unless the list has their very address: a wide network, or a name whose
 * address changes, opens none of them.
 */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type IpNetwork, isSameAddress, parseIp, parseNetwork } from '@dock/foundation'
import { isInAny, toNetwork } from './public-address.ts'

export type OwnHosts = {
  /** True if the list has this host, for 443 or for this port. */
  names(host: string, port: number): boolean
  /** True if the list has networks, so that names of private networks may lead to allowed addresses. */
  hasNetworks: boolean
  /** True if the address is allowed. `isNamed`: the URL's host is in the list. */
  allows(address: string, isNamed: boolean): boolean
}

/** What a listed name may lead to: addresses that only a private network has. */
const privateUse = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'].map(
  toNetwork,
)
/** What no network and no name opens: this machine, the next router, clouds' metadata, and what carries IPv4 addresses. */
const closed = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map(toNetwork)

type Entry = { network: IpNetwork } | { host: string; port: number | null }

/** Returns null if the text is neither a network nor a host with an optional port. */
const parse = (text: string): Entry | null => {
  if (text.includes('/')) {
    const network = parseNetwork(text)
    return network ? { network } : null
  }
  const url = URL.parse(`https://${isIP(text) === 6 ? `[${text}]` : text}/`)
  if (url?.pathname !== '/' || url.username !== '' || /[@?#\s]/.test(text)) return null
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? null : Number(url.port) }
}

/** True if the text may stand in the list. */
export function isOwnHost(text: string): boolean {
  return parse(text) !== null
}

const addressesOfMachine = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])

/** Throws an Error for an entry that is not valid. `listOwn` returns the addresses of this machine. */
export function createOwnHosts(list: readonly string[], listOwn = addressesOfMachine): OwnHosts {
  const networks: IpNetwork[] = []
  const exact: string[] = []
  const ports = new Map<string, Set<number>>()
  for (const text of list) {
    const entry = parse(text)
    if (!entry) throw new Error(`${text} is neither a network nor a host`)
    if ('network' in entry) {
      networks.push(entry.network)
      continue
    }
    if (isIP(entry.host) !== 0) exact.push(entry.host)
    const known = ports.get(entry.host) ?? new Set([443])
    if (entry.port !== null) known.add(entry.port)
    ports.set(entry.host, known)
  }
  return {
    names: (host, port) => ports.get(host)?.has(port) ?? false,
    hasNetworks: networks.length > 0,
    allows: (text, isNamed) => {
      const address = parseIp(text)
      if (!address) return false
      if (exact.some((each) => isSameAddress(each, text))) return true
      if (isInAny(address, closed)) return false
      if (listOwn().some((each) => isSameAddress(each, text))) return false
      return isInAny(address, networks) || (isNamed && isInAny(address, privateUse))
    },
  }
}

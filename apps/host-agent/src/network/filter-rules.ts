/**
 * The host's packet rules for Docks: one static table, on the wildcard of the instance's interfaces, so that no rule
 * comes or goes with a Dock. A Dock reaches the outside and the name forwarder, nothing else.
 */
import { type Cidr, formatCidr } from './ipv4.ts'

/** Where git in a Dock finds its door: on the gateway address of its own interface, and on no other. */
export const gitDoorPort = 9419

/** All interfaces of Docks, of every instance on the machine, start with this. */
export const interfaceFamily = 'gvh'

/**
 * Never reachable from a Dock: this host, private networks, link-local (metadata services), multicast, reserved; and
 * the one metadata service that has a public address, Azure's.
 */
const closedRanges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

export type FilterOptions = {
  table: string
  /** Interfaces of this instance start with it. */
  interfacePrefix: string
  subnet: Cidr
  nameserver: string
  /** The networks this host is attached to: closed too, whatever their addresses. */
  neighbours: readonly Cidr[]
  /** Open in spite of all that, by the operator's word. */
  allowed: readonly Cidr[]
  limits: NetworkLimits
}

/** What one Dock may use of what all share: the host's table of connections and its name forwarder. */
export type NetworkLimits = {
  /** TCP connections at once; of all other traffic, half as many. */
  connections: number
  /** Connections begun in a second, of whatever protocol; twice as many in a burst. */
  newConnectionsPerSecond: number
  /** Packets to the name forwarder in a second; twice as many in a burst. */
  namesPerSecond: number
}

export const defaultNetworkLimits: NetworkLimits = {
  ...{ connections: 4096, newConnectionsPerSecond: 500, namesPerSecond: 200 },
}

/** Sets in which the rules count what each Dock does. */
export const countingSets = ['tcp_open', 'other_open', 'begun', 'names']
/** Sets of ranges, which follow the host's networks and the operator's settings. */
export const rangeSets = ['closed', 'allowed']

/** Scripts for `nft -f`, each one transaction. */
export type TableRules = {
  /** Replaces the table and forgets what its sets have counted. */
  replace: string
  /**
   * Writes chains and ranges anew and keeps what the counting sets hold. Chains and sets that these rules do not name stay,
   * without rules.
   */
  refresh: string
}

const setOf = (name: string, ranges: readonly string[] = []): string =>
  `set ${name} { type ipv4_addr; flags interval; auto-merge; ${
    ranges.length > 0 ? `elements = { ${ranges.join(', ')} }` : ''
  }; }`

const countingSet = (name: string): string => `set ${name} { type ipv4_addr; size 65535; flags dynamic; }`

const rateOver = (perSecond: number): string =>
  `{ ip saddr limit rate over ${perSecond}/second burst ${2 * perSecond} packets }`

/**
 * The table's rules. Lookups by UDP are not tracked, and of a flow only the packets before it is confirmed are counted: to
 * the kernel one that nobody answers is new for ever (decision 077).
 */
export function filterRules(options: FilterOptions): TableRules {
  const rules = writeTable(options)
  const { table } = options
  return {
    replace: `
add table inet ${table}
delete table inet ${table}
${rules}`,
    // A set that does not exist cannot be flushed, so it is added first. `flush table` removes rules and no sets.
    refresh: `
table inet ${table} {
  ${rangeSets.map((name) => setOf(name)).join('\n  ')}
}
flush table inet ${table}
${rangeSets.map((name) => `flush set inet ${table} ${name}`).join('\n')}
${rules}`,
  }
}

const writeTable = (options: FilterOptions): string => {
  const { table, subnet, nameserver, limits } = options
  const dock = `"${options.interfacePrefix}*"`
  const anyDock = `"${interfaceFamily}*"`
  return `
table inet ${table} {
  ${setOf('closed', [...closedRanges, ...options.neighbours.map(formatCidr)])}
  ${setOf('allowed', options.allowed.map(formatCidr))}
  ${countingSets.map(countingSet).join('\n  ')}
  chain genuine {
    type filter hook prerouting priority raw; policy accept;
    iifname != ${dock} return
    meta nfproto != ipv4 drop
    ip saddr != ${formatCidr(subnet)} drop
    fib saddr . iif oif missing drop
    ip daddr ${nameserver} udp dport 53 notrack
  }
  chain named {
    type filter hook output priority raw; policy accept;
    oifname ${dock} ip saddr ${nameserver} udp sport 53 notrack
  }
  chain input {
    type filter hook input priority filter - 5; policy accept;
    iifname ${dock} jump from_dock
    iifname != "lo" ip daddr ${formatCidr(subnet)} drop
  }
  chain from_dock {
    ct direction reply ct state established,related accept
    ip daddr ${nameserver} meta l4proto { tcp, udp } th dport 53 add @names ${rateOver(limits.namesPerSecond)} drop
    ip daddr ${nameserver} udp dport 53 accept
    jump bounded
    ip daddr ${nameserver} tcp dport 53 accept
    tcp dport ${gitDoorPort} fib daddr . iif type local accept
    drop
  }
  chain forward {
    type filter hook forward priority filter - 5; policy accept;
    iifname ${dock} oifname ${anyDock} drop
    oifname ${dock} ct direction reply ct state established,related accept
    oifname ${dock} drop
    iifname ${dock} jump outward
  }
  chain outward {
    meta nfproto != ipv4 drop
    ct state invalid drop
    tcp flags syn / syn,rst tcp option maxseg size set rt mtu
    ip daddr @allowed jump bounded
    ip daddr @allowed accept
    ip daddr @closed drop
    jump bounded
  }
  chain bounded {
    ct state != new return
    ct status confirmed return
    add @begun ${rateOver(limits.newConnectionsPerSecond)} drop
    meta l4proto tcp add @tcp_open { ip saddr ct count over ${limits.connections} } drop
    meta l4proto != tcp add @other_open { ip saddr ct count over ${Math.ceil(limits.connections / 2)} } drop
  }
  chain translate {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${formatCidr(subnet)} oifname != ${anyDock} masquerade
  }
}
`
}

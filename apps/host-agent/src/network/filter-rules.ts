/**
 * The host's packet rules for Docks: one static table that matches all interfaces of the instance by a wildcard, so rules
 * never change with Docks. A Dock can reach public addresses, the name forwarder and its git door, nothing else.
 */
import { type Cidr, formatCidr } from './ipv4.ts'

/** Port of the git door. A Dock can reach it only on the gateway address of its own interface. */
export const gitDoorPort = 9419

/** Prefix of all Docks' interfaces, of every instance on the machine. */
export const interfaceFamily = 'gvh'

/**
 * Ranges that no Dock can reach: this host, private networks, link-local addresses (metadata services), multicast,
 * reserved ranges, and Azure's metadata service, which has a public address.
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
  /** Prefix of this instance's interfaces. */
  interfacePrefix: string
  subnet: Cidr
  nameserver: string
  /** Networks that this host is attached to. They are closed even if their addresses are public. */
  neighbours: readonly Cidr[]
  /** Ranges that are open although they are in a closed range. Only tests have some. */
  allowed: readonly Cidr[]
  limits: NetworkLimits
}

/** Limits for one Dock on resources that all Docks share: the host's connection table and its name forwarder. */
export type NetworkLimits = {
  /** Maximum of concurrent TCP connections. For all other protocols together, half of it. */
  connections: number
  /** Maximum of new connections per second, of all protocols together. Bursts may have twice as many. */
  newConnectionsPerSecond: number
  /** Maximum of packets to the name forwarder per second. Bursts may have twice as many. */
  namesPerSecond: number
  /** Maximum of IP fragments per second. The host keeps those of unfinished packets for 30 s. Bursts may have twice as many. */
  fragmentsPerSecond: number
}

export const defaultNetworkLimits: NetworkLimits = {
  ...{ connections: 4096, newConnectionsPerSecond: 500, namesPerSecond: 200 },
  // A burst has room for the largest datagram.
  fragmentsPerSecond: 25,
}

/** Sets in which the rules count connections and packets of each Dock. */
export const countingSets = ['tcp_open', 'other_open', 'begun', 'names', 'fragments']
/** Sets of address ranges. They depend on the host's networks and the options. */
export const rangeSets = ['closed', 'allowed']

/** Scripts for `nft -f`, each one transaction. */
export type TableRules = {
  /** Replaces the table and resets its counts. */
  replace: string
  /**
   * Rewrites chains and ranges but keeps the counts. Chains and sets that these rules do not contain remain, without
   * rules.
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
 * Returns the table's rules. What no Dock may send is dropped before the kernel puts fragments together, because that takes
 * memory which the whole host shares. DNS over UDP is not tracked. Only packets of unconfirmed flows are counted: a flow
 * without a reply stays `new` for the kernel, so all its packets would count as new connections (decision 026).
 */
export function filterRules(options: FilterOptions): TableRules {
  const rules = writeTable(options)
  const { table } = options
  return {
    replace: `
add table inet ${table}
delete table inet ${table}
${rules}`,
    // Flushing a missing set fails, so add the sets first. `flush table` removes rules but not sets.
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
    type filter hook prerouting priority raw - 150; policy accept;
    iifname != ${dock} return
    meta nfproto != ipv4 drop
    ip saddr != ${formatCidr(subnet)} drop
    fib saddr . iif oif missing drop
    ip frag-off & 0x3fff != 0 add @fragments ${rateOver(limits.fragmentsPerSecond)} drop
  }
  chain asked {
    type filter hook prerouting priority raw; policy accept;
    iifname ${dock} ip daddr ${nameserver} udp dport 53 notrack
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
    udp sport 0 drop
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

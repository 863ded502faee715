/**
 * The host's packet rules for Docks: one static table, on the wildcard of the instance's interfaces, so that no rule
 * comes or goes with a Dock. A Dock reaches the outside and the name forwarder, nothing else.
 */
import { type Cidr, formatCidr } from './ipv4.ts'

/** Where a Dock asks for credentials: on the gateway address of its own interface, and on no other. */
export const credentialPort = 9419

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
}

const setOf = (name: string, ranges: readonly string[]): string =>
  `set ${name} { type ipv4_addr; flags interval; auto-merge; ${
    ranges.length > 0 ? `elements = { ${ranges.join(', ')} }` : ''
  }; }`

/** A script for `nft -f` that replaces the table in one step. */
export const filterRules = (options: FilterOptions): string => {
  const { table, subnet, nameserver } = options
  const dock = `"${options.interfacePrefix}*"`
  const anyDock = `"${interfaceFamily}*"`
  return `
add table inet ${table}
delete table inet ${table}
table inet ${table} {
  ${setOf('closed', [...closedRanges, ...options.neighbours.map(formatCidr)])}
  ${setOf('allowed', options.allowed.map(formatCidr))}
  chain genuine {
    type filter hook prerouting priority raw; policy accept;
    iifname != ${dock} return
    meta nfproto != ipv4 drop
    ip saddr != ${formatCidr(subnet)} drop
    fib saddr . iif oif missing drop
  }
  chain input {
    type filter hook input priority filter - 5; policy accept;
    iifname ${dock} jump from_dock
    iifname != "lo" ip daddr ${formatCidr(subnet)} drop
  }
  chain from_dock {
    ct direction reply ct state established,related accept
    ip daddr ${nameserver} udp dport 53 accept
    ip daddr ${nameserver} tcp dport 53 accept
    tcp dport ${credentialPort} fib daddr . iif type local accept
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
    ip daddr @allowed accept
    ip daddr @closed drop
  }
  chain translate {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${formatCidr(subnet)} oifname != ${anyDock} masquerade
  }
}
`
}

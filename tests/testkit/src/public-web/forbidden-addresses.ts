/** Addresses that Dock must never send to, by range, each with its reason. Used by unit tests and by script/prove ssrf. */

export type ForbiddenRange = {
  range: string
  addresses: readonly (readonly [address: string, reason: string])[]
}

const ipv4: readonly ForbiddenRange[] = [
  {
    range: '0.0.0.0/8',
    addresses: [
      ['0.0.0.0', 'unspecified: connects to this machine'],
      ['0.0.0.1', 'first after the unspecified one'],
      ['0.1.2.3', 'this network'],
      ['0.255.255.255', 'last of the range'],
    ],
  },
  {
    range: '10.0.0.0/8',
    addresses: [
      ['10.0.0.0', 'first of the range'],
      ['10.0.0.1', 'usual gateway'],
      ['10.0.2.2', 'host of a QEMU machine'],
      ['10.96.0.1', 'usual API server of Kubernetes'],
      ['10.255.255.255', 'last of the range'],
    ],
  },
  {
    range: '100.64.0.0/10',
    addresses: [
      ['100.64.0.0', 'first of the range'],
      ['100.100.100.100', 'name server of Tailscale'],
      ['100.100.100.200', 'metadata of Alibaba Cloud'],
      ['100.127.255.255', 'last of the range'],
    ],
  },
  {
    range: '127.0.0.0/8',
    addresses: [
      ['127.0.0.0', 'first of the range'],
      ['127.0.0.1', 'loopback'],
      ['127.0.0.53', 'stub of systemd-resolved'],
      ['127.1.2.3', 'the whole range is loopback'],
      ['127.255.255.254', 'last host of the range'],
      ['127.255.255.255', 'last of the range'],
    ],
  },
  {
    range: '168.63.129.16/32',
    addresses: [['168.63.129.16', 'agent of Azure, on every machine there']],
  },
  {
    range: '169.254.0.0/16',
    addresses: [
      ['169.254.0.0', 'first of the range'],
      ['169.254.0.1', 'link local'],
      ['169.254.169.123', 'time server of AWS'],
      ['169.254.169.254', 'metadata of AWS, Azure, Google, Oracle and others'],
      ['169.254.170.2', 'credentials of an AWS container'],
      ['169.254.170.23', 'credentials of an AWS pod'],
      ['169.254.255.255', 'last of the range'],
    ],
  },
  {
    range: '172.16.0.0/12',
    addresses: [
      ['172.16.0.0', 'first of the range'],
      ['172.17.0.1', 'usual gateway of Docker'],
      ['172.20.1.1', 'inside the range'],
      ['172.31.255.255', 'last of the range'],
    ],
  },
  {
    range: '192.0.0.0/24',
    addresses: [
      ['192.0.0.0', 'first of the range'],
      ['192.0.0.1', 'DS-Lite'],
      ['192.0.0.8', 'dummy address'],
      ['192.0.0.9', 'port control anycast, globally reachable'],
      ['192.0.0.10', 'TURN anycast, globally reachable'],
      ['192.0.0.170', 'NAT64 discovery'],
      ['192.0.0.192', 'metadata of Oracle Cloud'],
      ['192.0.0.255', 'last of the range'],
    ],
  },
  {
    range: '192.0.2.0/24',
    addresses: [
      ['192.0.2.0', 'first of the range'],
      ['192.0.2.1', 'documentation'],
      ['192.0.2.255', 'last of the range'],
    ],
  },
  {
    range: '192.31.196.0/24',
    addresses: [
      ['192.31.196.1', 'AS112'],
      ['192.31.196.255', 'last of the range'],
    ],
  },
  {
    range: '192.52.193.0/24',
    addresses: [
      ['192.52.193.1', 'multicast relay'],
      ['192.52.193.255', 'last of the range'],
    ],
  },
  {
    range: '192.88.99.0/24',
    addresses: [
      ['192.88.99.0', 'first of the range'],
      ['192.88.99.1', '6to4 relay'],
      ['192.88.99.2', '6a44 relay'],
      ['192.88.99.255', 'last of the range'],
    ],
  },
  {
    range: '192.168.0.0/16',
    addresses: [
      ['192.168.0.0', 'first of the range'],
      ['192.168.0.1', 'usual router'],
      ['192.168.122.1', 'usual gateway of libvirt'],
      ['192.168.255.255', 'last of the range'],
    ],
  },
  {
    range: '192.175.48.0/24',
    addresses: [
      ['192.175.48.1', 'AS112'],
      ['192.175.48.255', 'last of the range'],
    ],
  },
  {
    range: '198.18.0.0/15',
    addresses: [
      ['198.18.0.0', 'first of the range'],
      ['198.18.0.1', 'benchmarking'],
      ['198.19.255.255', 'last of the range'],
    ],
  },
  {
    range: '198.51.100.0/24',
    addresses: [
      ['198.51.100.0', 'first of the range'],
      ['198.51.100.53', 'documentation'],
      ['198.51.100.255', 'last of the range'],
    ],
  },
  {
    range: '203.0.113.0/24',
    addresses: [
      ['203.0.113.0', 'first of the range'],
      ['203.0.113.10', 'documentation'],
      ['203.0.113.255', 'last of the range'],
    ],
  },
  {
    range: '224.0.0.0/4',
    addresses: [
      ['224.0.0.0', 'first of the range'],
      ['224.0.0.1', 'all systems'],
      ['224.0.0.251', 'multicast names'],
      ['233.252.0.1', 'documentation of multicast'],
      ['239.255.255.250', 'UPnP'],
      ['239.255.255.255', 'last of the range'],
    ],
  },
  {
    range: '240.0.0.0/4',
    addresses: [
      ['240.0.0.0', 'first of the range'],
      ['240.0.0.1', 'reserved'],
      ['250.1.2.3', 'reserved'],
      ['255.255.255.254', 'last before the broadcast'],
      ['255.255.255.255', 'limited broadcast'],
    ],
  },
]

const ipv6: readonly ForbiddenRange[] = [
  {
    range: '::/96',
    addresses: [
      ['::', 'unspecified: connects to this machine'],
      ['::1', 'loopback'],
      ['0:0:0:0:0:0:0:1', 'loopback, written out'],
      ['::2', 'inside the range'],
      ['::7f00:1', 'carries 127.0.0.1'],
      ['::127.0.0.1', 'carries 127.0.0.1, dotted'],
      ['::10.0.0.1', 'carries a private address'],
      ['::169.254.169.254', 'carries the metadata server'],
      ['::8.8.8.8', 'carries a public address'],
      ['::ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '::ffff:0:0/96',
    addresses: [
      ['::ffff:0:0', 'carries the unspecified address'],
      ['::ffff:127.0.0.1', 'carries loopback'],
      ['::ffff:7f00:1', 'carries loopback, in hexadecimal'],
      ['0:0:0:0:0:ffff:127.0.0.1', 'carries loopback, written out'],
      ['::FFFF:10.0.0.1', 'carries a private address, in capitals'],
      ['::ffff:100.64.0.1', 'carries a shared address'],
      ['::ffff:169.254.169.254', 'carries the metadata server'],
      ['::ffff:a9fe:a9fe', 'carries the metadata server, in hexadecimal'],
      ['::ffff:172.16.0.1', 'carries a private address'],
      ['::ffff:192.168.0.1', 'carries a private address'],
      ['::ffff:8.8.8.8', 'carries a public address'],
    ],
  },
  {
    range: '::ffff:0:0:0/96',
    addresses: [
      ['::ffff:0:127.0.0.1', 'translated by SIIT (RFC 2765)'],
      ['::ffff:0:a9fe:a9fe', 'translated by SIIT, the metadata server'],
    ],
  },
  {
    range: '64:ff9b::/96',
    addresses: [
      ['64:ff9b::', 'NAT64 of the unspecified address'],
      ['64:ff9b::127.0.0.1', 'NAT64 of loopback'],
      ['64:ff9b::10.0.0.1', 'NAT64 of a private address'],
      ['64:ff9b::a9fe:a9fe', 'NAT64 of the metadata server'],
      ['64:ff9b::192.168.0.1', 'NAT64 of a private address'],
      ['64:ff9b::8.8.8.8', 'NAT64 of a public address'],
    ],
  },
  {
    range: '64:ff9b:1::/48',
    addresses: [
      ['64:ff9b:1::1', 'local NAT64'],
      ['64:ff9b:1::a00:1', 'local NAT64 of a private address'],
      ['64:ff9b:1:7f00:0:100::', 'local NAT64 of loopback, in the form of /48'],
      ['64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '100::/63',
    addresses: [
      ['100::', 'first to be discarded'],
      ['100::1', 'discard only'],
      ['100::ffff:ffff:ffff:ffff', 'last to be discarded'],
      ['100:0:0:1::1', 'dummy prefix'],
    ],
  },
  {
    range: '2001::/23',
    addresses: [
      ['2001::', 'Teredo, first of the range'],
      ['2001:0:a00:1::', 'Teredo, its server is 10.0.0.1'],
      ['2001:0:4136:e378:8000:63bf:80ff:fffe', 'Teredo, its client is 127.0.0.1, obfuscated'],
      ['2001:0:808:808:0:0:5601:5601', 'Teredo, its client is 169.254.169.254, obfuscated'],
      ['2001:0:7f00:1:0:0:f7f7:f7f7', 'Teredo, its server is loopback, its client public'],
      ['2001:1::1', 'port control anycast, globally reachable'],
      ['2001:1::2', 'TURN anycast, globally reachable'],
      ['2001:1::3', 'DNS-SD anycast, globally reachable'],
      ['2001:2::1', 'benchmarking'],
      ['2001:3::1', 'multicast relay, globally reachable'],
      ['2001:4:112::1', 'AS112, globally reachable'],
      ['2001:10::1', 'ORCHID, deprecated'],
      ['2001:20::1', 'ORCHIDv2, globally reachable'],
      ['2001:30::1', 'drone identifiers, globally reachable'],
      ['2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '2001:db8::/32',
    addresses: [
      ['2001:db8::1', 'documentation'],
      ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '2002::/16',
    addresses: [
      ['2002::', '6to4 of the unspecified address'],
      ['2002:7f00:1::', '6to4 of loopback'],
      ['2002:7f00:1::1', '6to4 of loopback'],
      ['2002:a00:1::1', '6to4 of a private address'],
      ['2002:a9fe:a9fe::1', '6to4 of the metadata server'],
      ['2002:c0a8:1::1', '6to4 of a private address'],
      ['2002:808:808::1', '6to4 of a public address'],
      ['2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '2620:4f:8000::/48',
    addresses: [
      ['2620:4f:8000::1', 'AS112'],
      ['2620:4f:8000:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '3fff::/20',
    addresses: [
      ['3fff::1', 'documentation'],
      ['3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '5f00::/16',
    addresses: [
      ['5f00::1', 'segment routing'],
      ['5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: '2606:2800::/32 (ISATAP)',
    addresses: [
      ['2606:2800:220:1:0:5efe:10.0.0.1', 'ISATAP in a public prefix, private address'],
      ['2606:2800:220:1:0:5efe:a9fe:a9fe', 'ISATAP in a public prefix, metadata server'],
      ['2606:2800:220:1:200:5efe:127.0.0.1', 'ISATAP with the universal bit, loopback'],
      ['2606:2800:220:1:200:5efe:8.8.8.8', 'ISATAP with the universal bit, public address'],
    ],
  },
  {
    range: 'fc00::/7',
    addresses: [
      ['fc00::', 'first of the range'],
      ['fc00::1', 'unique local'],
      ['fd00::1', 'unique local'],
      ['fd00:ec2::254', 'metadata of AWS'],
      ['fd20:ce::254', 'metadata of Google Cloud'],
      ['fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: 'fe80::/10',
    addresses: [
      ['fe80::', 'first of the range'],
      ['fe80::1', 'link local'],
      ['fe80::5efe:10.0.0.1', 'ISATAP, link local'],
      ['fe80::a9fe:a9fe', 'metadata of OpenStack'],
      ['febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: 'fec0::/10',
    addresses: [
      ['fec0::1', 'site local'],
      ['feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of the range'],
    ],
  },
  {
    range: 'ff00::/8',
    addresses: [
      ['ff00::', 'first of the range'],
      ['ff01::1', 'all nodes of the interface'],
      ['ff02::1', 'all nodes of the link'],
      ['ff02::fb', 'multicast names'],
      ['ff0e::1', 'multicast of the whole internet'],
      ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of all'],
    ],
  },
  {
    range: 'outside 2000::/3',
    addresses: [
      ['1::1', 'reserved by the IETF'],
      ['64:ff9b:2::1', 'beside the local NAT64'],
      ['200::1', 'formerly NSAP'],
      ['1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last before global unicast'],
      ['4000::1', 'first after global unicast'],
      ['8000::1', 'reserved by the IETF'],
      ['fe00::1', 'reserved by the IETF'],
    ],
  },
]

export const forbiddenRanges: readonly ForbiddenRange[] = [...ipv4, ...ipv6]

/** Neighbours of forbidden ranges, and addresses of well-known servers. */
export const publicAddresses: readonly (readonly [address: string, reason: string])[] = [
  ['1.0.0.0', 'first after 0.0.0.0/8'],
  ['1.1.1.1', 'a server'],
  ['8.8.8.8', 'a server'],
  ['9.255.255.255', 'before 10.0.0.0/8'],
  ['11.0.0.0', 'after 10.0.0.0/8'],
  ['100.63.255.255', 'before 100.64.0.0/10'],
  ['100.128.0.0', 'after 100.64.0.0/10'],
  ['126.255.255.255', 'before 127.0.0.0/8'],
  ['128.0.0.0', 'after 127.0.0.0/8'],
  ['168.63.129.15', 'before the agent of Azure'],
  ['168.63.129.17', 'after the agent of Azure'],
  ['169.253.255.255', 'before 169.254.0.0/16'],
  ['169.255.0.0', 'after 169.254.0.0/16'],
  ['172.15.255.255', 'before 172.16.0.0/12'],
  ['172.32.0.0', 'after 172.16.0.0/12'],
  ['191.255.255.255', 'before 192.0.0.0/24'],
  ['192.0.1.0', 'between 192.0.0.0/24 and 192.0.2.0/24'],
  ['192.0.3.0', 'after 192.0.2.0/24'],
  ['192.31.195.255', 'before 192.31.196.0/24'],
  ['192.52.194.0', 'after 192.52.193.0/24'],
  ['192.88.98.255', 'before 192.88.99.0/24'],
  ['192.88.100.0', 'after 192.88.99.0/24'],
  ['192.167.255.255', 'before 192.168.0.0/16'],
  ['192.169.0.0', 'after 192.168.0.0/16'],
  ['198.17.255.255', 'before 198.18.0.0/15'],
  ['198.20.0.0', 'after 198.18.0.0/15'],
  ['198.51.101.0', 'after 198.51.100.0/24'],
  ['203.0.112.255', 'before 203.0.113.0/24'],
  ['203.0.114.0', 'after 203.0.113.0/24'],
  ['223.255.255.255', 'before 224.0.0.0/4'],
  ['2000::', 'first of global unicast'],
  ['2001:200::', 'after 2001::/23'],
  ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', 'before 2001:db8::/32'],
  ['2001:db9::', 'after 2001:db8::/32'],
  ['2001:4860:4860::8888', 'a server'],
  ['2003::1', 'after 2002::/16'],
  ['2606:2800:220:1:248:1893:25c8:1946', 'a server'],
  ['2606:4700:4700::1111', 'a server'],
  ['2606:4700:4700:0:100:5efe:102:304', 'no interface identifier of ISATAP'],
  ['2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', 'before 2620:4f:8000::/48'],
  ['2620:4f:8001::', 'after 2620:4f:8000::/48'],
  ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'before 3fff::/20'],
  ['3fff:1000::', 'after 3fff::/20'],
  ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'last of global unicast'],
]

/** Texts that are no plain address. */
export const notAddresses: readonly (readonly [text: string, reason: string])[] = [
  ['', 'empty'],
  ['example.com', 'a name'],
  ['8.8.8', 'three parts'],
  ['8.8.8.8.', 'a dot too many'],
  ['08.8.8.8', 'leading zero, octal for some'],
  ['0x8.8.8.8', 'hexadecimal'],
  ['134744072', 'decimal'],
  [' 8.8.8.8', 'leading space'],
  ['8.8.8.8\n', 'line feed'],
  ['8.8.8.8/32', 'a range'],
  ['[2606:4700:4700::1111]', 'brackets'],
  ['2606:4700:4700::1111%eth0', 'a zone on a public address'],
  ['fe80::1%eth0', 'a zone on a link local address'],
  ['fe80::1%25eth0', 'an encoded zone'],
  ['2606:4700:4700:::1111', 'three colons'],
  ['2606:4700:4700::1111::', 'two gaps'],
]

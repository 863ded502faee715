/**
 * The network of script/prove ssrf, inside its own namespace: every address of IPv4 and IPv6 belongs to this machine,
 * so that a packet to any of them leaves and arrives. nftables counts what leaves, by range.
 */
import { createSocket } from 'node:dgram'
import { Agent, get } from 'node:https'
import { isIP } from 'node:net'
import { runCommand } from '@dock/foundation'
import { type ForbiddenRange, forbiddenRanges } from '@dock/testkit/src/public-web/forbidden-addresses.ts'
import { receiverAddresses } from './vectors.ts'

export type Counts = {
  /** Connections that were opened to the receiver's addresses. */
  receivers: number
  /** Connections that were opened to any other address, to any port. */
  strangers: number
  /** Packets to port 443 of each forbidden range, by TCP or UDP. */
  ranges: ReadonlyMap<string, number>
}

const table = 'ssrf_proof'
const opensConnection = 'tcp flags & (syn | ack) == syn'

const counterOf = (number: number): string => `range${number}`

const destinationOf = ({ range }: ForbiddenRange): string => {
  const [cidr] = /^[\da-f.:]+\/\d+/.exec(range) ?? []
  if (cidr === undefined) return 'ip6 daddr != 2000::/3'
  return `${cidr.includes(':') ? 'ip6' : 'ip'} daddr ${cidr}`
}

const rules = (): string => {
  const counters = ['receivers', 'strangers', ...forbiddenRanges.map((_, number) => counterOf(number))]
  const [ipv4, ipv6] = receiverAddresses
  return `
table inet ${table} {
  ${counters.map((name) => `counter ${name} { }`).join('\n  ')}
  chain leaving {
    type filter hook output priority 0;
    ip daddr ${ipv4} ${opensConnection} counter name receivers accept
    ip6 daddr ${ipv6} ${opensConnection} counter name receivers accept
    ip daddr ${ipv4} accept
    ip6 daddr ${ipv6} accept
    ${forbiddenRanges
      .map(
        (range, number) =>
          `${destinationOf(range)} meta l4proto { tcp, udp } th dport 443 counter name ${counterOf(number)}`,
      )
      .join('\n    ')}
    ${opensConnection} counter name strangers
  }
}`
}

export async function layNetwork(): Promise<void> {
  await runCommand('ip', ['route', 'add', 'local', '0.0.0.0/0', 'dev', 'lo'])
  await runCommand('ip', ['-6', 'route', 'add', 'local', '::/0', 'dev', 'lo'])
  await runCommand('ip', ['-6', 'route', 'add', 'multicast', 'ff00::/8', 'dev', 'lo', 'table', 'local'])
  await runCommand('nft', ['-f', '-'], { input: rules() })
}

type ListedCounter = { counter?: { name: string; packets: number } }

export async function readCounts(): Promise<Counts> {
  const listing = await runCommand('nft', ['--json', 'list', 'counters', 'table', 'inet', table])
  const listed = (JSON.parse(listing) as { nftables: ListedCounter[] }).nftables
  const packets = new Map(listed.flatMap(({ counter }) => (counter ? [[counter.name, counter.packets]] : [])))
  const read = (name: string): number => packets.get(name) ?? Number.NaN
  return {
    receivers: read('receivers'),
    strangers: read('strangers'),
    ranges: new Map(forbiddenRanges.map(({ range }, number) => [range, read(counterOf(number))])),
  }
}

/** Delivers like a program without a guard: through the name servers, to whatever they tell. */
export function deliverUnguarded(host: string): Promise<string> {
  return new Promise((resolve) => {
    // An agent of its own, because the global one uses the proxy of the environment.
    const outgoing = get(`https://${host}/`, {
      agent: new Agent(),
      rejectUnauthorized: false,
      timeout: 3_000,
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error('timed out')))
    outgoing.once('error', (error) => resolve(error.message))
    outgoing.once('response', (response) => {
      response.destroy()
      resolve(`answered ${response.statusCode}`)
    })
  })
}

/** For addresses to which the kernel itself opens no connection: multicast, broadcast and link-local ones. */
export function sendDatagram(address: string): Promise<string> {
  return new Promise((resolve) => {
    const isIpv6 = isIP(address) === 6
    const socket = createSocket(isIpv6 ? 'udp6' : 'udp4')
    socket.once('error', (error) => resolve(error.message))
    socket.bind(0, () => {
      if (!isIpv6) socket.setBroadcast(true)
      socket.send('x', 443, isIpv6 ? `${address}%lo` : address, (error) => {
        socket.close()
        resolve(error ? error.message : 'sent by UDP')
      })
    })
  })
}

/**
 * Network isolation, tested as root in a Dock. The Dock reaches the internet, but not the host, private networks,
 * metadata services or other Docks, although all of them respond to the host. Packets with a forged source address are
 * dropped.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import type { Dock } from '@dock/contract'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sandboxOf } from '../crash/processes.ts'
import { createDock, exec, run } from './support/dock.ts'
import { createOutside, type Outside, startProgram } from './support/outside.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const runOnHost = promisify(execFile)
const programs = new URL('support/isolation/', import.meta.url).pathname
const programText = (name: string): string => readFileSync(programs + name, 'utf8')

/** Returns an address in 10.0.0.0/8 that is in no subnet of a host agent: each chooses a random /16. */
const findLanAddress = async (): Promise<string> => {
  for (let part = 0; part <= 255; part += 1) {
    const address = `10.${part}.7.7`
    const { stdout } = await runOnHost('ip', ['-json', '-4', 'route', 'show', 'match', address])
    const routes = JSON.parse(stdout.trim() || '[]') as { dst: string }[]
    if (routes.every(({ dst }) => dst === 'default')) return address
  }
  throw new Error('every /16 of 10.0.0.0/8 has a route on this machine')
}

const number = 100 + (process.pid % 100)
const [open4, open6] = [`198.51.100.${number}`, '2001:db8:77::77']
const lan = [await findLanAddress(), '172.20.7.7', '192.168.77.7', 'fd77:77::77']
/** Metadata services: Amazon and most others (IPv4 and IPv6), Alibaba, Azure, Oracle. */
const metadata = ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']

let outside: Outside
let port: number
let a: Dock
let b: Dock
let gateway: string
let hostGreeter: ChildProcess
/** Sources of the datagrams that arrived at the greeters on the host and outside. */
const heard = { byHost: '', outside: '' }

const inDock = async (dock: Dock, program: string, env: Record<string, string>): Promise<string> => {
  const command = `sudo perl -e "$PROGRAM" <<<"$INPUT"`
  const { stdout, stderr } = await exec(server, dock.id, command, {
    env: { PROGRAM: program, INPUT: '', ...env },
  })
  return stdout + stderr
}

const linesOf = (text: string): string[] => text.trim().split('\n').sort()

/** Returns the targets that respond to this machine. */
const probedFromHost = (targets: readonly string[]): Promise<string[]> =>
  new Promise((resolve) => {
    const child = spawn('perl', [`${programs}probe.pl`], { stdio: ['pipe', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    child.once('close', () => resolve(linesOf(text)))
    child.stdin.end(`${targets.join('\n')}\n`)
  })

const probedFrom = async (dock: Dock, targets: readonly string[]): Promise<string[]> =>
  linesOf(await inDock(dock, programText('probe.pl'), { INPUT: targets.join('\n') }))

const eachWay = (address: string): string[] => [
  `tcp ${address} ${port}`,
  `udp ${address} ${port}`,
  `icmp ${address} 0`,
]

const hostAddresses = (): string[] =>
  Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    name.startsWith('gvh')
      ? []
      : addresses
          .filter((each) => !each.internal && !each.address.startsWith('fe80'))
          .map((each) => each.address),
  )

/** Lists everything that listens on this machine, for example agent, control plane and database. */
const listeners = async (): Promise<string[]> => {
  const { stdout } = await runOnHost('ss', ['-Hltun'])
  const found = stdout.matchAll(/^(tcp|udp) .*?:(\d+) /gm)
  return [...new Set([...found].map(([, kind, at]) => `${kind} ADDRESS ${at}`))]
}

beforeAll(async () => {
  port = await freePort()
  const greeter = [`${programs}greet.pl`, String(port)]
  const addresses = [open4, open6, ...lan, ...metadata]
  outside = await createOutside(number, addresses)
  const there = await outside.start('perl', ...greeter, ...addresses)
  there.stdout!.on('data', (part) => (heard.outside += part))
  ;[a, b] = await Promise.all([createDock(server), createDock(server)])
  gateway = (await run(server, a.id, "ip route | awk '/default/ {print $3}'")).trim()
  hostGreeter = await startProgram('perl', [...greeter, '127.0.0.1', gateway, ...hostAddresses()])
  hostGreeter.stdout!.on('data', (part) => (heard.byHost += part))
  const greet = `perl -e "$PROGRAM" ${port} ${b.ip} >heard 2>&1 & until grep -q ready heard; do kill -0 $! || { cat heard; exit 1; }; sleep 0.1; done`
  await run(server, b.id, greet, { env: { PROGRAM: programText('greet.pl') } })
})

afterAll(async () => {
  hostGreeter?.kill()
  await outside?.remove()
})

it('a Dock reaches the internet by TCP, UDP and ICMP, and nothing else', async () => {
  const open = eachWay(open4)
  const closed = [...[open6, ...lan, ...metadata, ...hostAddresses()], gateway, b.ip!].flatMap(eachWay)
  expect(await probedFromHost([...open, ...closed])).toEqual([...open, ...closed].sort())
  expect(await probedFrom(a, [...open, ...closed])).toEqual(open.sort())
})

it('a Dock reaches nothing that listens on the host, except its name server', async () => {
  const all = await listeners()
  expect(all).toContain(`tcp ADDRESS ${new URL(server.admin.baseUrl).port}`)
  const nameserver = (await run(server, a.id, "awk '/nameserver/ {print $2}' /etc/resolv.conf")).trim()
  const targets = [nameserver, gateway, hostAddresses()[0]!].flatMap((address) =>
    all.map((each) => each.replace('ADDRESS', address)),
  )
  expect(await probedFrom(a, targets)).toEqual([`tcp ${nameserver} 53`])
})

it('root in a Dock cannot create raw packets or use another address', async () => {
  const tried = `
    use Socket;
    for (["packet", 17, SOCK_RAW, 768], ["raw", AF_INET, SOCK_RAW, 255], ["raw icmp", AF_INET, SOCK_RAW, 1]) {
      my ($name, @socket) = @$_;
      print socket(my $socket, $socket[0], $socket[1], $socket[2]) ? "$name made\\n" : "$name: $!\\n";
    }
    socket(my $socket, AF_INET, SOCK_DGRAM, 0);
    print bind($socket, pack_sockaddr_in(0, inet_aton("203.0.113.9"))) ? "bound\\n" : "another's address: $!\\n";
    print system("ip address add 203.0.113.9/32 dev eth0 2>/dev/null") ? "no address\\n" : "has it\\n";`
  expect((await inDock(a, tried, {})).trim().split('\n')).toEqual([
    'packet: Operation not permitted',
    'raw: Operation not permitted',
    'raw icmp: Operation not permitted',
    "another's address: Cannot assign requested address",
    'no address',
  ])
})

it('packets with forged source addresses are dropped, even from a compromised sandbox', async () => {
  const { stdout } = await runOnHost('ip', ['-json', 'link', 'show', 'type', 'veth'])
  const links = JSON.parse(stdout) as { ifalias?: string; address: string }[]
  const router = links.find(({ ifalias }) => ifalias === a.id)!.address
  const pid = await sandboxOf(a.id)
  const send = (from: string, to: string) =>
    runOnHost('nsenter', [
      ...[`--net=/proc/${pid}/ns/net`, 'perl', `${programs}send-frame.pl`],
      ...[from, to, String(port), router],
    ])
  heard.byHost = heard.outside = ''
  const host = outside.hostAddress
  const addresses = ['203.0.113.9', b.ip!, gateway, host, '127.0.0.1', '0.0.0.0']
  for (const from of addresses) for (const to of [open4, host, b.ip!]) await send(from, to)
  for (const to of [host, b.ip!, '127.0.0.1', gateway]) await send(a.ip!, to)
  for (const to of [open6, `fd53:${number}::1`]) await send('fd99::2', to)
  // The allowed packet is sent last: once it has arrived, all others would have arrived.
  await send(a.ip!, open4)
  await expect.poll(() => heard.outside).not.toBe('')
  await probedFromHost([`udp ${host} ${port}`, `udp ${b.ip} ${port}`])
  expect(linesOf(heard.outside)).toEqual([host])
  expect(linesOf(heard.byHost)).toEqual([host])
  const last = await run(server, b.id, 'sort -u heard')
  expect(linesOf(last)).toEqual([await addressTowards(b), 'ready'].sort())
})

/** Returns the host's source address for packets to a Dock. */
const addressTowards = async ({ ip }: Dock): Promise<string> => {
  const { stdout } = await runOnHost('ip', ['-json', 'route', 'get', ip!])
  return (JSON.parse(stdout) as { prefsrc: string }[])[0]!.prefsrc
}

/** Tests with real namespaces and packets. Plain processes in a Dock's namespace act as its sandbox. Requires root. */
import { createSocket } from 'node:dgram'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createLogger, newUuid, runCommand, tryCommand } from '@dock/foundation'
import { rawDatagram } from '@dock/testkit/src/raw-datagram.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createNetworks, instanceTag } from './create-networks.ts'
import { defaultNetworkLimits, filterRules } from './filter-rules.ts'
import { guardRules } from './guard-rules.ts'
import { readHostRoutes } from './host-routes.ts'
import { parseCidr, parseCidrList } from './ipv4.ts'
import type { DockNetwork, Networks } from './networks.ts'

const logger = createLogger('test')
logger.level = 'silent'
/** Time for a few commands on a busy machine. Less than the 30 s after which the guard checks without an event. */
const soon = { timeout: 20_000, interval: 20 }
const outsideOf = (pid: number | string): string => `dkt-outside-${pid}`
const outsideLinkOf = (pid: number | string): string => `dkto${pid}`
const outside = outsideOf(process.pid)
const outsideLink = outsideLinkOf(process.pid)
/** A public address (of a documentation range) behind a router. It acts as the outside. */
const server4 = '198.51.100.77'
/** Private addresses behind the same router: one is closed, one is opened by the operator. */
const private4 = '10.201.7.7'
const allowed4 = '10.202.7.7'
const metadata = '169.254.169.254'
const answering = [server4, private4, allowed4, metadata]

let folder: string
let networks: Networks
let a: DockNetwork
let b: DockNetwork
const dockA = newUuid()
const dockB = newUuid()
const processes: AbortController[] = []
let hostServer: Server
/** The port of a listener of this host. */
let hostPort: number

const options = () => ({
  instance: folder,
  subnetFile: join(folder, 'network.json'),
  logger,
  allowedEgress: parseCidrList(`${allowed4}/32`),
})

const inside = (network: DockNetwork, args: string[]) =>
  tryCommand('nsenter', [`--net=${network.netnsPath}`, ...args], { timeoutMs: 20_000 })

/** True if a TCP connection from the Dock receives the greeting of a listener at the address within this time. */
const isGreeted = async (
  network: DockNetwork,
  address: string,
  port: number,
  withinMs: number,
): Promise<boolean> => {
  // Data that has arrived in time counts, even if this process was late to read it.
  const script = `
    const s = require('net').connect(${port}, '${address}')
    s.setTimeout(${withinMs}, () => setImmediate(() => process.exit(1)))
    s.on('error', () => process.exit(1)).on('data', () => process.exit(0))`
  return (await inside(network, [process.execPath, '-e', script])).code === 0
}

/** Has a long timeout, because a listener may be late on a busy machine. */
const reaches = (network: DockNetwork, address: string, port: number): Promise<boolean> =>
  isGreeted(network, address, port, 15_000)

/** True if a TCP connection from the Dock receives no greeting. Give more time if many ask at once. */
const isClosed = async (
  network: DockNetwork,
  address: string,
  port: number,
  withinMs = 700,
): Promise<boolean> => !(await isGreeted(network, address, port, withinMs))

const pings = async (
  network: DockNetwork,
  address: string,
  { from, withinMs = 700 }: { from?: string; withinMs?: number } = {},
): Promise<boolean> => {
  const script = `
import socket, struct, sys, os
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
s.settimeout(int(sys.argv[2]) / 1000)
if len(sys.argv) > 3: s.bind((sys.argv[3], 0))
body = struct.pack('!BBHHH', 8, 0, 0, 7, 1) + b'dock'
if len(body) % 2: body += b'\\0'
total = sum(struct.unpack('!%dH' % (len(body) // 2), body))
total = (total >> 16) + (total & 0xffff); total += total >> 16
body = body[:2] + struct.pack('!H', ~total & 0xffff) + body[4:]
try:
  s.sendto(body, (sys.argv[1], 0))
  while True:
    got = s.recv(1500)
    if got[20] == 0: sys.exit(0)
except OSError: sys.exit(1)
`
  const args = ['python3', '-c', script, address, `${withinMs}`, ...(from ? [from] : [])]
  return (await inside(network, args)).code === 0
}

/** Runs a listener in a namespace. Resolves when it listens. */
const listenIn = async (netnsPath: string, script: string): Promise<void> => {
  const { spawn } = await import('node:child_process')
  const stop = new AbortController()
  processes.push(stop)
  const child = spawn('nsenter', [`--net=${netnsPath}`, process.execPath, '-e', script], {
    signal: stop.signal,
  })
  child.on('error', () => undefined)
  await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
}

/** Starts a greeter on every address of a namespace. */
const greet = (netnsPath: string, port: number): Promise<void> =>
  listenIn(
    netnsPath,
    `require('net').createServer((s) => s.on('error', () => 0).end('hello'))
      .listen(${port}, '::', () => console.log('up'))`,
  )

const hostAddress = async (): Promise<string> => {
  const text = await runCommand('ip', ['-json', '-4', 'address', 'show', 'scope', 'global'])
  const links = JSON.parse(text) as { ifname: string; addr_info: { local: string }[] }[]
  const found = links.find(
    ({ ifname }) => !ifname.startsWith('gvh') && !ifname.startsWith('dkt') && ifname !== 'lo',
  )
  return found?.addr_info[0]?.local ?? '127.0.0.1'
}

const removeOutside = async (pid: number | string): Promise<void> => {
  await tryCommand('ip', ['link', 'delete', outsideLinkOf(pid)])
  await tryCommand('ip', ['netns', 'delete', outsideOf(pid)])
}

/** Removes what killed test runs left, because their routes would conflict with those of this run. */
const removeLeftovers = async (): Promise<void> => {
  for (const name of await readdir('/sys/class/net')) {
    const pid = /^dkto(\d+)$/.exec(name)?.[1]
    if (pid && !existsSync(`/proc/${pid}`)) await removeOutside(pid)
  }
}

beforeAll(async () => {
  await removeLeftovers()
  folder = await mkdtemp(join(tmpdir(), 'dock-networks-'))
  await runCommand('ip', ['-batch', '-'], {
    input: `netns add ${outside}
link add ${outsideLink} type veth peer name up0 netns ${outside}
addr add 198.51.100.1/30 dev ${outsideLink}
addr add fd77::1/64 dev ${outsideLink} nodad
link set ${outsideLink} up
`,
  })
  await runCommand('ip', ['-netns', outside, '-batch', '-'], {
    input: `link set lo up
link set up0 up
addr add 198.51.100.2/30 dev up0
addr add fd77::2/64 dev up0 nodad
route add default via 198.51.100.1
${answering.map((address) => `addr add ${address}/32 dev lo`).join('\n')}
`,
  })
  for (const address of answering) {
    await runCommand('ip', ['route', 'replace', `${address}/32`, 'via', '198.51.100.2', 'dev', outsideLink])
  }
  await greet(`/run/netns/${outside}`, 7001)
  hostServer = createServer((socket) => socket.on('error', () => undefined).end('hello'))
  await new Promise<void>((resolve) => hostServer.listen(0, '::', resolve))
  hostPort = (hostServer.address() as AddressInfo).port

  networks = createNetworks(options())
  await networks.setUp()
  a = await networks.create(dockA)
  b = await networks.create(dockB)
  await greet(b.netnsPath, 7003)
})

afterAll(async () => {
  await networks.destroy(dockA)
  await networks.destroy(dockB)
  await networks.tearDown()
  for (const stop of processes) stop.abort()
  hostServer.close()
  await rm(folder, { recursive: true })
})
// A separate hook, which runs first, so that an incomplete outside is removed too.
afterAll(() => removeOutside(process.pid))

test('a Dock reaches the outside by TCP and ICMP, with the address of the host', async () => {
  expect(await reaches(a, server4, 7001)).toBe(true)
  expect(await pings(a, server4)).toBe(true)
  expect(await reaches(b, server4, 7001)).toBe(true)
})

test('a Dock reaches a private range only if the operator allows it', async () => {
  expect(await reaches(a, allowed4, 7001)).toBe(true)
  expect(await isClosed(a, private4, 7001)).toBe(true)
  expect(await pings(a, private4)).toBe(false)
})

test('the host reaches a Dock and gets a response', async () => {
  const { connect } = await import('node:net')
  const text = await new Promise<string>((resolve, reject) => {
    connect(7003, b.ip)
      .once('data', (bytes) => resolve(bytes.toString()))
      .once('error', reject)
  })
  expect(text).toBe('hello')
})

test('metadata addresses, the host, its neighbours and other Docks are closed', async () => {
  // All of these would respond if the rules did not block them.
  const own = await hostAddress()
  const addresses = [metadata, own, a.gateway, a.nameserver, b.gateway, b.ip]
  const ports = [
    ...[own, a.gateway, a.nameserver, b.gateway, '127.0.0.1'].map((address) => [address, hostPort] as const),
    ...([
      [metadata, 7001],
      [b.ip, 7003],
      ['198.51.100.2', 7001],
    ] as const),
  ]
  const open = await Promise.all([
    ...ports.map(async ([address, port]) => (await isClosed(a, address, port, 2000)) || [address, port]),
    ...addresses.map(async (address) => !(await pings(a, address, { withinMs: 2000 })) || address),
  ])
  expect(open.filter((each) => each !== true)).toEqual([])
  await runCommand('nsenter', [`--net=${a.netnsPath}`, 'ip', 'link', 'set', 'dev', 'lo', 'down'])
  await inside(a, ['ip', 'route', 'replace', '127.0.0.0/8', 'via', a.gateway, 'dev', 'eth0', 'src', a.ip])
  expect(await isClosed(a, '127.0.0.1', hostPort)).toBe(true)
  await networks.restore(dockA)
})

test('a query of names from port 0, which cannot be answered, does not reach the host', async () => {
  const asked = `ip saddr ${a.ip} ip daddr ${a.nameserver} udp dport 53`
  const counters = await countPackets({
    fromNoPort: { hook: 'input', match: `${asked} udp sport 0` },
    ordinary: { hook: 'input', match: `${asked} udp sport 7999` },
  })
  for (const fromPort of [0, 7999, 0]) {
    const [program, args] = rawDatagram(fromPort, { address: a.nameserver, port: 53 }, 'a question')
    expect(await inside(a, [program, ...args])).toMatchObject({ code: 0 })
  }
  expect(await counters.stop()).toEqual({ fromNoPort: 0, ordinary: 1 })
})

test('the outside cannot reach a Dock', async () => {
  await runCommand('ip', ['-netns', outside, 'route', 'replace', `${b.ip}/32`, 'via', '198.51.100.1'])
  const fromOutside = { ...a, netnsPath: `/run/netns/${outside}` }
  expect(await reaches(fromOutside, '198.51.100.1', hostPort)).toBe(true)
  expect(await isClosed(fromOutside, b.ip, 7003)).toBe(true)
  expect(await isClosed(fromOutside, b.nameserver, 53)).toBe(true)
})

test('a packet with a forged source address does not leave a Dock', async () => {
  // Listens on the outside for packets from any source.
  const heard = createListener()
  await heard.started
  for (const from of ['203.0.113.9', b.ip, b.gateway, '198.51.100.9']) {
    await inside(a, ['ip', 'address', 'add', `${from}/32`, 'dev', 'eth0'])
    await pings(a, server4, { from })
    await inside(a, ['ip', 'address', 'delete', `${from}/32`, 'dev', 'eth0'])
  }
  await networks.restore(dockA)
  expect(await pings(a, server4)).toBe(true)
  expect(await heard.stop()).toEqual(['198.51.100.1'])
})

test('ARP requests of forged askers leave no neighbours on the host', async () => {
  const script = `
import socket, struct
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
mac = link.getsockname()[4]
def ask(asker, wanted):
  head = b'\\xff' * 6 + mac + b'\\x08\\x06' + struct.pack('!HHBBH', 1, 0x800, 6, 4, 1)
  link.send(head + mac + socket.inet_aton(asker) + b'\\0' * 6 + socket.inet_aton(wanted))
for last in range(20): ask('203.0.113.%d' % last, '${a.gateway}')
ask('${a.ip}', '${a.gateway}')
`
  const neighbours = async () => {
    const text = await runCommand('ip', ['-json', 'neighbor', 'show', 'dev', basename(a.netnsPath)])
    return (JSON.parse(text || '[]') as { dst: string }[]).map(({ dst }) => dst)
  }
  await runCommand('ip', ['neighbor', 'flush', 'dev', basename(a.netnsPath)])
  expect(await inside(a, ['python3', '-c', script])).toMatchObject({ code: 0 })
  // The last asker is genuine: its entry shows that the host has handled those before it.
  await expect.poll(neighbours, soon).toContain(a.ip)
  expect(await neighbours()).toEqual([a.ip])
})

test('fragments of unfinished packets leave the host’s memory for them to the neighbours', async () => {
  const name = basename(a.netnsPath)
  const [host] = JSON.parse(await runCommand('ip', ['-json', 'link', 'show', 'dev', name])) as {
    address: string
  }[]
  const script = `
import socket, struct
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
macs = bytes.fromhex('${host!.address.replaceAll(':', '')}') + link.getsockname()[4]
data = b'x' * 1200
def four(number, source):
  head = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(data), number, 0x2000, 64, 17, 0) + socket.inet_aton(source) + socket.inet_aton('${server4}')
  total = sum(struct.unpack('!10H', head)); total = (total >> 16) + (total & 0xffff); total += total >> 16
  link.send(macs + b'\\x08\\x00' + head[:10] + struct.pack('!H', ~total & 0xffff) + head[12:] + data)
def six(number):
  address = socket.inet_pton(socket.AF_INET6, '2001:db8::1')
  head = struct.pack('!IHBB', 0x60000000, 8 + len(data), 44, 64) + address * 2 + struct.pack('!BBHI', 17, 0, 1, number)
  link.send(macs + b'\\x86\\xdd' + head + data)
for number in range(600):
  for source in ('${a.ip}', '${b.ip}', '203.0.113.9'): four(number, source)
  six(number)
`
  const waiting = async (file: string): Promise<number> =>
    Number(/^FRAG6?: inuse (\d+)/m.exec(await readFile(`/proc/net/${file}`, 'utf8'))![1])
  const finished = async (): Promise<number> => {
    const [names, values] = (await readFile('/proc/net/snmp', 'utf8')).match(/^Ip: .*$/gm)!
    return Number(values!.split(' ')[names!.split(' ').indexOf('ReasmOKs')])
  }
  expect(await inside(a, ['python3', '-c', script])).toMatchObject({ code: 0, stderr: '' })
  expect(await waiting('sockstat')).toBeLessThan(200)
  expect(await waiting('sockstat6')).toBeLessThan(200)
  const before = await finished()
  const large = `import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x' * 60000, ('${server4}', 9))`
  expect(await inside(b, ['python3', '-c', large])).toMatchObject({ code: 0, stderr: '' })
  await expect.poll(finished, soon).toBeGreaterThan(before)
})

/** Collects the sources of all echo requests that reach the outside. */
const createListener = () => {
  const script = `
import socket, sys, select
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
print('up', flush=True)
seen = set()
while True:
  ready, _, _ = select.select([s, sys.stdin], [], [])
  if s in ready:
    got = s.recv(1500)
    if got[20] == 8: seen.add(socket.inet_ntoa(got[12:16]))
  elif sys.stdin in ready: break
print('\\n'.join(sorted(seen)), flush=True)
`
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string[]>()
  const child = import('node:child_process').then(({ spawn }) => {
    const listener = spawn('nsenter', [`--net=/run/netns/${outside}`, 'python3', '-c', script])
    let text = ''
    listener.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part
      started.resolve()
    })
    listener.once('close', () => ended.resolve(text.trim().split('\n').slice(1)))
    return listener
  })
  return {
    started: started.promise,
    stop: async () => {
      const listener = await child
      listener.stdin.end()
      return ended.promise
    },
  }
}

test('IPv6 is closed', async () => {
  // Control: the outside, which is not a Dock, gets the host's greeting at this address.
  expect(await reaches({ ...a, netnsPath: `/run/netns/${outside}` }, 'fd77::1', hostPort)).toBe(true)
  const links = await runCommand('ip', ['-json', '-6', 'address', 'show'])
  const docksWithV6 = (JSON.parse(links) as { ifname?: string }[]).filter((link) =>
    link.ifname?.startsWith('gvh'),
  )
  expect(docksWithV6).toEqual([])
  // Add IPv6 routes in both directions, so that only the rules block the packets.
  const readJson = async (text: Promise<string>) =>
    JSON.parse(await text) as { dev?: string; address?: string }[]
  const [way] = await readJson(runCommand('ip', ['-json', 'route', 'get', a.ip]))
  const device = way?.dev ?? ''
  const [hostEnd] = await readJson(runCommand('ip', ['-json', 'link', 'show', 'dev', device]))
  const [dockEnd] = await readJson(
    inside(a, ['ip', '-json', 'link', 'show', 'dev', 'eth0']).then((it) => it.stdout),
  )
  await runCommand('ip', ['-batch', '-'], {
    input: `route replace fd99::2/128 dev ${device}
neighbor replace fd99::2 lladdr ${dockEnd?.address} dev ${device}
`,
  })
  await runCommand('ip', ['-netns', device, '-batch', '-'], {
    input: `addr add fd99::2/64 dev eth0 nodad
route add default via fd99::1 dev eth0
neighbor add fd99::1 lladdr ${hostEnd?.address} dev eth0
`,
  })
  expect(await isClosed(a, 'fd77::1', hostPort)).toBe(true)
  expect(await isClosed(a, 'fd77::2', 7001)).toBe(true)
})

test('the name forwarder listens on UDP and TCP', async () => {
  // The host's resolvers may be unreachable, so only check that the connection is accepted.
  const script = `require('net').connect(53, '${a.nameserver}').on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
  expect((await inside(a, [process.execPath, '-e', script])).code).toBe(0)
  const taken = createSocket('udp4')
  const outcome = await new Promise((resolve) => {
    taken.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    taken.bind({ port: 53, address: a.nameserver, exclusive: true }, () => resolve('free'))
  })
  expect(outcome).toBe('EADDRINUSE')
})

test('create is idempotent, and restore sets the addresses again that a sandbox removed', async () => {
  expect(await networks.create(dockA)).toEqual(a)
  await inside(a, ['ip', 'address', 'flush', 'dev', 'eth0'])
  expect(await isClosed(a, server4, 7001)).toBe(true)
  expect(await networks.restore(dockA)).toEqual(a)
  expect(await reaches(a, server4, 7001)).toBe(true)
})

test('another agent on the machine gets another subnet, and its Docks are closed to ours', async () => {
  const other = createNetworks({
    ...options(),
    instance: `${folder}/2`,
    subnetFile: join(folder, '2.json'),
    spares: 0,
  })
  await other.setUp()
  const dock = newUuid()
  try {
    const network = await other.create(dock)
    expect(network.ip.split('.').slice(0, 2)).not.toEqual(a.ip.split('.').slice(0, 2))
    expect(await reaches(network, server4, 7001)).toBe(true)
    expect(await isClosed(network, b.ip, 7003)).toBe(true)
    expect(await isClosed(network, a.nameserver, 53)).toBe(true)
    expect(await other.list()).toEqual([dock])
  } finally {
    await other.destroy(dock)
    await other.tearDown()
  }
})

test('a Dock takes a spare network, which is replaced a moment later', async () => {
  const own = { ...options(), instance: `${folder}/6`, subnetFile: join(folder, '6.json'), spares: 1 }
  const spared = createNetworks(own)
  const aliases = async (): Promise<string[]> => {
    const links = JSON.parse(await runCommand('ip', ['-json', 'link', 'show', 'type', 'veth'])) as {
      ifname: string
      ifalias?: string
    }[]
    return links
      .filter(({ ifname }) => ifname.includes(instanceTag(own.instance)))
      .map(({ ifalias }) => ifalias ?? '')
      .sort()
  }
  const dock = newUuid()
  await spared.setUp()
  try {
    await expect.poll(aliases, soon).toEqual(['spare'])
    await spared.create(dock)
    expect(await aliases()).toContain(dock)
    await expect.poll(aliases, soon).toEqual([dock, 'spare'])
  } finally {
    await spared.destroy(dock)
    await spared.tearDown()
  }
})

test('the next agent takes over the Docks, and destroy and tearDown leave nothing', async () => {
  const own = { ...options(), instance: `${folder}/3`, subnetFile: join(folder, '3.json') }
  const first = createNetworks({ ...own, spares: 2 })
  await first.setUp()
  const docks = [newUuid(), newUuid(), newUuid()]
  const made = await Promise.all(docks.map((dock) => first.create(dock)))
  expect(new Set(made.map(({ ip }) => ip)).size).toBe(3)
  expect((await traces(own.instance, own.subnetFile)).length).toBeGreaterThan(6)
  // tearDown keeps the Docks' networks, like a crash. A crash would also free the forwarder's port.
  await first.tearDown()

  const second = createNetworks({ ...own, spares: 2 })
  await second.setUp()
  expect((await second.list()).sort()).toEqual([...docks].sort())
  expect(await Promise.all(docks.map((dock) => second.create(dock)))).toEqual(made)
  expect(await reaches(made[1] as DockNetwork, server4, 7001)).toBe(true)
  for (const dock of docks) {
    await second.destroy(dock)
    await second.destroy(dock)
  }
  expect(await second.list()).toEqual([])
  await second.tearDown()
  expect(await traces(own.instance, own.subnetFile)).toEqual([])
})

describe('the file of the subnet', () => {
  const own = () => ({ ...options(), instance: `${folder}/5`, subnetFile: join(folder, '5.json'), spares: 0 })
  const stored = async (): Promise<unknown> => JSON.parse(await readFile(own().subnetFile, 'utf8'))
  const addressAfterStart = async (): Promise<string> => {
    const networks = createNetworks(own())
    await networks.setUp()
    const dock = newUuid()
    try {
      return (await networks.create(dock)).ip
    } finally {
      await networks.destroy(dock)
      await networks.tearDown()
    }
  }

  test('gives the subnet that an operator wrote', async () => {
    const subnet = '172.30.0.0/16'
    await writeFile(own().subnetFile, JSON.stringify({ instance: own().instance, subnet: '172.30.9.9/16' }))
    expect(await addressAfterStart()).toMatch(/^172\.30\./)
    expect(await stored()).toEqual({ instance: own().instance, subnet })
  })

  test.each([
    ['is not JSON', '172.30.0.0/16'],
    ['is empty', ''],
    ['has no /16', (instance: string) => JSON.stringify({ instance, subnet: '172.30.0.0/20' })],
    ['belongs to another instance', JSON.stringify({ instance: '/elsewhere', subnet: '172.30.0.0/16' })],
  ])('is replaced if it %s', async (_, written) => {
    const { instance, subnetFile } = own()
    await writeFile(subnetFile, typeof written === 'string' ? written : written(instance))
    expect(await addressAfterStart()).toMatch(/^10\./)
    expect(await stored()).toEqual({ instance, subnet: expect.stringMatching(/^10\.\d+\.0\.0\/16$/) })
  })

  test('is written again from the addresses of the Docks if it is damaged', async () => {
    const first = createNetworks(own())
    await first.setUp()
    const dock = newUuid()
    const made = await first.create(dock)
    const before = await stored()
    await first.tearDown()
    await writeFile(own().subnetFile, '{"instance":')
    const second = createNetworks(own())
    await second.setUp()
    try {
      expect(second.find(dock)).toEqual(made)
      expect(await reaches(made, server4, 7001)).toBe(true)
      expect(await stored()).toEqual(before)
    } finally {
      await second.destroy(dock)
      await second.tearDown()
    }
  })
})

describe('a reserved namespace', () => {
  const instance = () => `${folder}/5`
  const own = () => ({
    ...options(),
    ...{ instance: instance(), subnetFile: join(folder, '5.json'), spares: 2 },
  })
  const aliasOf = async (netnsPath: string): Promise<string> => {
    const [link] = JSON.parse(await runCommand('ip', ['-json', 'link', 'show', 'dev', basename(netnsPath)]))
    return link.ifalias
  }
  let mine: Networks
  const docks: string[] = []
  const newDock = (): string => {
    docks.push(newUuid())
    return docks.at(-1)!
  }
  beforeEach(async () => {
    mine = createNetworks(own())
    await mine.setUp()
  })
  afterEach(async () => {
    for (const dock of docks.splice(0)) await mine.destroy(dock)
    await mine.tearDown()
  })

  test('becomes the network of the Dock that brings its path, and of no other', async () => {
    const path = await mine.reserve()
    expect(await aliasOf(path)).toBe('reserved')
    const others = await Promise.all(Array.from({ length: 5 }, () => mine.create(newDock())))
    expect(others.map(({ netnsPath }) => netnsPath)).not.toContain(path)
    const dock = newDock()
    const network = await mine.create(dock, path)
    expect(network.netnsPath).toBe(path)
    expect(others.map(({ ip }) => ip)).not.toContain(network.ip)
    expect(await aliasOf(path)).toBe(dock)
    expect(await mine.list()).toContain(dock)
    expect(await reaches(network, server4, 7001)).toBe(true)
    // It can be used once, and only by its path.
    expect((await mine.create(newDock(), path)).netnsPath).not.toBe(path)
    await mine.release(path)
    expect(await aliasOf(path)).toBe(dock)
  })

  test('can be given to any Dock once it is released', async () => {
    const path = await mine.reserve()
    await mine.release(path)
    expect(await aliasOf(path)).toBe('spare')
    const networks = []
    for (let n = 0; n < 4; n++) networks.push(await mine.create(newDock()))
    const network = networks.find(({ netnsPath }) => netnsPath === path)
    expect(await reaches(network!, server4, 7001)).toBe(true)
    expect(new Set(networks.map(({ ip }) => ip)).size).toBe(4)
  })

  test('has addresses and routes again after a restore, when a sandbox has taken them and ended', async () => {
    const path = await mine.reserve()
    const dock = newDock()
    const network = await mine.create(dock, path)
    const ip = (...args: string[]) => runCommand('ip', ['-netns', basename(path), ...args])
    await ip('address', 'flush', 'dev', 'eth0')
    await ip('link', 'set', 'dev', 'lo', 'down')
    expect(await isClosed(network, server4, 7001)).toBe(true)
    expect(await mine.restore(dock)).toEqual(network)
    expect(await reaches(network, server4, 7001)).toBe(true)
    expect(await ip('route', 'show', 'default')).toContain(network.gateway)
    expect(await ip('address', 'show', 'dev', 'eth0')).toContain(`${network.ip}/30`)
  })

  test('is removed by the next agent, and by the end of its own', async () => {
    const path = await mine.reserve()
    const [dock, owner] = [newDock(), newDock()]
    const kept = await mine.create(dock)
    // The end of an agent leaves the networks of Docks alone, as a crash leaves all of them.
    await mine.create(owner, path)
    await mine.tearDown()
    await runCommand('ip', ['link', 'set', 'dev', basename(path), 'alias', 'reserved'])
    mine = createNetworks(own())
    await mine.setUp()
    expect(existsSync(path)).toBe(false)
    expect(mine.find(dock)).toEqual(kept)
    expect(mine.find(owner)).toBeNull()
    const later = await mine.reserve()
    await mine.tearDown()
    expect(existsSync(later)).toBe(false)
  })
})

describe('a separate instance', () => {
  let other: Networks
  let flooder: DockNetwork
  let neighbour: DockNetwork
  const docks = [newUuid(), newUuid()]
  const instance = () => `${folder}/4`
  const limits = {
    ...defaultNetworkLimits,
    connections: 60,
    newConnectionsPerSecond: 100,
    namesPerSecond: 20,
  }

  beforeAll(async () => {
    other = createNetworks({
      ...options(),
      ...{ instance: instance(), subnetFile: join(folder, '4.json'), spares: 0 },
      limits,
    })
    await other.setUp()
    flooder = await other.create(docks[0]!)
    neighbour = await other.create(docks[1]!)
    await greet(neighbour.netnsPath, 7003)
    await hold(`/run/netns/${outside}`, 7005)
  })
  afterAll(async () => {
    for (const dock of docks) await other.destroy(dock)
    await other.tearDown()
  })

  /** Opens `count` connections to a listener that keeps them. Returns how many are open after a second. */
  const opens = async (network: DockNetwork, count: number): Promise<number> => {
    const script = `let open = 0
      for (let n = 0; n < ${count}; n++)
        require('net').connect(7005, '${server4}').on('connect', () => open++).on('error', () => 0)
      setTimeout(() => setImmediate(() => { console.log(open); process.exit(0) }), 1000)`
    return Number((await inside(network, [process.execPath, '-e', script])).stdout)
  }
  /** Opens `count` connections to that listener and keeps them open. */
  const holdFrom = async (
    network: DockNetwork,
    count: number,
  ): Promise<{ open: number; stop(): Promise<void> }> => {
    const { spawn } = await import('node:child_process')
    const script = `let open = 0
      for (let n = 0; n < ${count}; n++)
        require('net').connect(7005, '${server4}').on('connect', () => open++)
          .on('error', () => 0).setTimeout(1000, function () { if (this.connecting) this.destroy() })
      setTimeout(() => console.log(open), 1500)
      process.stdin.on('end', () => process.exit(0)).resume()`
    const child = spawn('nsenter', [`--net=${network.netnsPath}`, process.execPath, '-e', script])
    const open = await new Promise<number>((resolve) =>
      child.stdout.once('data', (text) => resolve(Number(text))),
    )
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    return {
      open,
      stop: () => {
        child.stdin.end()
        return ended
      },
    }
  }
  /** Sends `count` datagrams, each from another port. Returns how many reached the outside. */
  const datagrams = async (
    network: DockNetwork,
    count: number,
    port: number,
  ): Promise<() => Promise<number>> => {
    // Count in the kernel: a socket drops datagrams that exceed its buffer (256 here) if its process is late.
    const counters = await countPackets(
      { arrived: { hook: 'input', match: `udp dport ${port}` } },
      `/run/netns/${outside}`,
    )
    // Keep the sockets open, so that no port is used twice, which would not be a new connection.
    const script = `
import socket
held = []
for n in range(${count}):
  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  s.sendto(b'x', ('${server4}', ${port}))
  held.append(s)
`
    await inside(network, ['python3', '-c', script])
    return async () => (await counters.read()).arrived
  }

  test('a Dock cannot open more connections than its limit, and its neighbour is unaffected', async () => {
    const [open, reached] = await Promise.all([opens(flooder, 200), reaches(neighbour, server4, 7001)])
    expect(open).toBeGreaterThan(40)
    expect(open).toBeLessThanOrEqual(60)
    expect(reached).toBe(true)
    // Control: with the default limits all connections open.
    expect(await opens(a, 200)).toBe(200)
  })

  test('a Dock cannot open more connections per second than its limit, and its neighbour is unaffected', async () => {
    const [passed, reached] = await Promise.all([
      datagrams(flooder, 400, 7006),
      reaches(neighbour, server4, 7001),
    ])
    await expect.poll(passed).toBeGreaterThan(10)
    expect(await passed()).toBeLessThanOrEqual(30)
    expect(reached).toBe(true)
    await expect.poll(await datagrams(a, 400, 7007)).toBe(400)
  })

  test('many packets from one port without a response count as one connection', async () => {
    const counters = await countPackets({
      passed: { hook: 'forward', match: `ip saddr ${neighbour.ip} udp dport 7008` },
    })
    const script = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(1000): s.sendto(b'x', ('${server4}', 7008))
`
    await inside(neighbour, ['python3', '-c', script])
    expect(await counters.stop()).toEqual({ passed: 1000 })
  })

  test('a Dock with its maximum of connections can still look up names, up to its rate limit', async () => {
    const { ip, nameserver } = flooder
    const question = `ip saddr ${ip} ip daddr ${nameserver} udp dport 53`
    const answer = `ip saddr ${nameserver} ip daddr ${ip} udp sport 53`
    const count = () =>
      countPackets({
        questions: { hook: 'input', match: question },
        answers: { hook: 'output', match: answer },
        trackedQuestions: { hook: 'input', match: `${question} ct state != untracked` },
        trackedAnswers: { hook: 'output', match: `${answer} ct state != untracked` },
      })
    const ask = (times: number) =>
      inside(flooder, [
        ...['python3', '-c'],
        `
import socket
for n in range(${times}):
  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
  s.sendto(b'', ('${nameserver}', 53))
`,
      ])
    // Sends a response like the forwarder. A raw socket is needed, because the forwarder uses the port.
    const answers = `
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
s.bind(('${nameserver}', 0))
s.sendto(struct.pack('!HHHH', 53, 7999, 8, 0), ('${ip}', 0))
`
    // These get no response, so the Dock has its maximum of non-TCP connections from here on.
    expect(await (await datagrams(flooder, 100, 7009))()).toBeLessThanOrEqual(30)

    const few = await count()
    await ask(36)
    await runCommand('python3', ['-c', answers])
    // Neither the query nor the response uses an entry of the shared connection table.
    expect(await few.stop()).toEqual({ questions: 36, answers: 1, trackedQuestions: 0, trackedAnswers: 0 })

    const many = await count()
    await ask(400)
    expect((await many.stop()).questions).toBeLessThan(200)
  })

  test('removed rules are restored immediately', async () => {
    const table = `dock_${instanceTag(instance())}`
    expect(await isClosed(flooder, neighbour.ip, 7003)).toBe(true)
    const monitors = (await runCommand('pgrep', ['-P', String(process.pid), '-f', 'nft monitor']))
      .trim()
      .split('\n')
    for (const pid of monitors) process.kill(Number(pid), 'SIGSTOP')
    await runCommand('nft', ['delete', 'table', 'inet', table])
    // Control: while the guard is paused, the neighbour can be reached.
    expect(await reaches(flooder, neighbour.ip, 7003)).toBe(true)
    for (const pid of monitors) process.kill(Number(pid), 'SIGCONT')
    const isBack = async () => (await tryCommand('nft', ['list', 'table', 'inet', table])).code === 0
    await expect.poll(isBack, soon).toBe(true)
    expect(await isClosed(flooder, neighbour.ip, 7003)).toBe(true)

    await runCommand('nft', ['flush', 'chain', 'inet', table, 'forward'])
    const rules = async () =>
      (await runCommand('nft', ['list', 'chain', 'inet', table, 'forward'])).includes('drop')
    await expect.poll(rules, soon).toBe(true)
    expect(await isClosed(flooder, neighbour.ip, 7003)).toBe(true)
  })

  describe('a Dock with its maximum of connections', () => {
    let held: Awaited<ReturnType<typeof holdFrom>>
    beforeAll(async () => {
      held = await holdFrom(flooder, 200)
    })
    afterAll(() => held.stop())
    const table = () => `dock_${instanceTag(instance())}`

    test('gets no more when the rules are rewritten', async () => {
      expect(await opens(flooder, 20)).toBe(0)
      const chain = () => runCommand('nft', ['-s', 'list', 'chain', 'inet', table(), 'forward'])
      const before = await chain()
      await runCommand('nft', ['flush', 'chain', 'inet', table(), 'forward'])
      await expect.poll(chain, soon).toBe(before)
      expect(await opens(flooder, 20)).toBe(0)
    })

    test('gets no more from the next agent', async () => {
      const interfacePrefix = `gvh${instanceTag(instance())}-`
      const { subnet } = JSON.parse(await readFile(join(folder, '4.json'), 'utf8')) as { subnet: string }
      const { neighbours } = await readHostRoutes(interfacePrefix, subnet)
      const written = { table: table(), interfacePrefix, subnet: parseCidr(subnet)!, neighbours }
      const rules = filterRules({
        ...{ ...written, nameserver: flooder.nameserver, allowed: options().allowedEgress, limits },
      })
      await (await guardRules({ table: table(), rules, logger })).close()
      expect(await opens(flooder, 20)).toBe(0)
    })

    test('can open new ones after it has closed those', async () => {
      await held.stop()
      await expect.poll(() => opens(flooder, 20)).toBe(20)
    })
  })

  test('the next agent keeps the counts if only the host’s networks have changed, but not if the limits have', async () => {
    const scratch = `dkt_limits_${process.pid}`
    const start = async (connections: number, neighbours: string): Promise<string> => {
      const rules = filterRules({
        ...{ table: scratch, interfacePrefix: 'dktnone', subnet: parseCidr('10.254.0.0/16')! },
        ...{ nameserver: '10.254.0.1', neighbours: parseCidrList(neighbours), allowed: [] },
        limits: { ...limits, connections },
      })
      await (await guardRules({ table: scratch, rules, logger })).close()
      return await runCommand('nft', ['list', 'table', 'inet', scratch])
    }
    const element = '10.254.0.2 limit rate over 100/second burst 200 packets'
    try {
      await start(60, '203.0.113.0/25')
      await runCommand('nft', ['add', 'element', 'inet', scratch, 'begun', `{ ${element} }`])
      const beside = await start(60, '203.0.113.128/25')
      expect(beside).toContain(element)
      expect(beside).toContain('203.0.113.128/25')
      expect(beside).not.toContain('203.0.113.0/25')
      // An element keeps the limit with which it was created.
      const limited = await start(61, '203.0.113.128/25')
      expect(limited).not.toContain(element)
      expect(limited).toContain('ct count over 61')
    } finally {
      await tryCommand('nft', ['delete', 'table', 'inet', scratch])
    }
  })

  test('nft monitor is restarted when it ends', async () => {
    const table = `dock_${instanceTag(instance())}`
    const monitors = (await runCommand('pgrep', ['-P', String(process.pid), '-f', 'nft monitor']))
      .trim()
      .split('\n')
    for (const pid of monitors) process.kill(Number(pid), 'SIGKILL')
    await runCommand('nft', ['delete', 'table', 'inet', table])
    const isBack = async () => (await tryCommand('nft', ['list', 'table', 'inet', table])).code === 0
    await expect.poll(isBack, soon).toBe(true)
  })
})

/** Listens in a namespace and keeps every connection. */
const hold = (netnsPath: string, port: number): Promise<void> =>
  listenIn(
    netnsPath,
    `require('net').createServer((s) => s.on('error', () => 0)).listen(${port}, '::', () => console.log('up'))`,
  )

/** Counts packets that pass the rules of a namespace, or of the host. `stop` also removes the counters. */
const countPackets = async <Name extends string>(
  wanted: Record<Name, { hook: 'input' | 'output' | 'forward'; match: string }>,
  netnsPath?: string,
): Promise<Record<'read' | 'stop', () => Promise<Record<Name, number>>>> => {
  const table = `dkt_packets_${process.pid}`
  const [program = '', ...inNamespace] = netnsPath ? ['nsenter', `--net=${netnsPath}`, 'nft'] : ['nft']
  const nft = (args: string[], input = ''): Promise<string> =>
    runCommand(program, [...inNamespace, ...args], { input })
  const chains = Object.entries<{ hook: string; match: string }>(wanted).map(
    ([name, { hook, match }]) => `counter ${name} {}
      chain in_${name} {
        type filter hook ${hook} priority filter; policy accept;
        ${match} counter name ${name}
      }`,
  )
  await nft(
    ['-f', '-'],
    `add table inet ${table}\ndelete table inet ${table}\ntable inet ${table} {\n${chains.join('\n')}\n}`,
  )
  const read = async (): Promise<Record<Name, number>> => {
    const text = await nft(['list', 'counters', 'table', 'inet', table])
    const found = text.matchAll(/counter (\w+) \{\s+packets (\d+)/g)
    return Object.fromEntries([...found].map(([, name, packets]) => [name, Number(packets)]))
  }
  return {
    read,
    stop: async () => {
      const counted = await read()
      await nft(['delete', 'table', 'inet', table])
      return counted
    },
  }
}

/** Lists the namespaces, interfaces, tables and routes of an instance. */
const traces = async (instance: string, subnetFile: string): Promise<string[]> => {
  const outputs = await Promise.all([
    readdir('/run/netns').then((names) => names.join('\n')),
    runCommand('ip', ['-oneline', 'link', 'show']),
    runCommand('nft', ['list', 'tables']),
    runCommand('ip', ['-4', 'route', 'show', 'table', 'all']),
  ])
  const { subnet } = JSON.parse(await readFile(subnetFile, 'utf8')) as { subnet: string }
  const start = subnet.slice(0, subnet.indexOf('.', 3) + 1)
  return outputs
    .join('\n')
    .split('\n')
    .filter((line) => line.includes(instanceTag(instance)) || line.includes(` ${start}`))
}

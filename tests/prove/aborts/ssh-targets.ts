/** SSH: sessions, sftp, terminals and forwarded connections of the OpenSSH client, and strangers that send rubbish. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startRelay } from './cutting-relay.ts'
import { hostedPort } from './hosted-program.ts'
import type { Random } from './random.ts'
import { requireMaster } from './ssh-master.ts'
import type { Attempt, Target } from './target.ts'
import type { World } from './world.ts'

const patienceMs = 30_000

/** What the client is asked for, after the name of the host. */
const shapes: readonly { before?: string[]; after?: string[]; input?: string }[] = [
  { after: ['cat /dev/zero'] },
  { after: ['cat'], input: 'line\n'.repeat(60_000) },
  { after: ['seq 200000; exit 3'] },
  {
    before: ['-s'],
    after: ['sftp'],
    input: '\0\0\0\x05\x01\0\0\0\x03\0\0\0\x0c\x0b\0\0\0\x01\0\0\0\x03/usr',
  },
  { before: ['-tt'], input: 'cat /dev/zero | tr "\\0" x\n' },
  { before: ['-W', `127.0.0.1:${hostedPort}`], input: 'GET /bytes/20000000 HTTP/1.1\r\nhost: x\r\n\r\n' },
]

const gone = (child: ChildProcessWithoutNullStreams): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')

/** Waits for the first byte and some more, and kills the client. */
const watch = async (
  child: ChildProcessWithoutNullStreams,
  random: Random,
  input: string,
): Promise<Attempt> => {
  const ended = gone(child)
  let bytes = 0
  let notice = (): void => undefined
  child.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length
    notice()
  })
  child.stderr.resume()
  child.stdin.on('error', () => undefined)
  if (random.chance(0.5)) child.stdin.write(input)
  else child.stdin.end(input)
  const wanted = random.pick([1, 1, random.below(100_000), random.below(5e6)])
  const limit = random.chance(0.25) ? random.below(600) : 1_500
  const enough = new Promise<void>((resolve) => {
    notice = () => bytes >= wanted && resolve()
  })
  await Promise.race([enough, ended, delay(limit)])
  child.kill('SIGKILL')
  const isStuck = (await Promise.race([ended, delay(patienceMs, 'late')])) === 'late'
  // Nobody waits for output that is not read.
  child.stdout.destroy()
  return { status: bytes > 0 ? 200 : null, bytes, isStuck, ending: 'killed' }
}

const session = async (world: World, random: Random): Promise<Attempt> => {
  const { client, port } = world.ssh!
  const { before = [], after = [], input = '' } = random.pick(shapes)
  // The exchange of keys takes some 4000 bytes.
  const bytesMax = random.pick([Infinity, Infinity, random.below(6_000), 6_000 + random.below(2e6)])
  const relay = await startRelay(port, bytesMax, random.chance(0.7))
  const own = ['-o', `Port=${relay.port}`, '-o', 'HostKeyAlias=dock', '-o', 'ConnectTimeout=20']
  const user = ['-l', random.pick(world.machines).id]
  const child = client.start('ssh', [...own, ...client.options(), ...before, ...user, '127.0.0.1', ...after])
  try {
    return await watch(child, random, input)
  } finally {
    relay.close()
  }
}

/** A channel of a connection that stays open. */
const channel = async (world: World, random: Random): Promise<Attempt> => {
  const { client } = world.ssh!
  const { id } = world.machines[0]!
  const master = await requireMaster(client, id)
  const { before = [], after = [], input = '' } = random.pick(shapes)
  return watch(client.start('ssh', [...before, ...master, ...after]), random, input)
}

const banner = Buffer.from('SSH-2.0-aborts\r\n')
/** A first packet of an exchange of keys (RFC 4253, section 7.1) that names what most servers know. */
const keyExchange = (random: Random): Buffer => {
  const names = [
    'curve25519-sha256',
    'ssh-ed25519',
    'aes256-ctr',
    'aes256-ctr',
    'hmac-sha2-256',
    'hmac-sha2-256',
    'none',
    'none',
    '',
    '',
  ]
  const lists = names.flatMap((name) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(name.length)
    return [length, Buffer.from(name)]
  })
  const payload = Buffer.concat([Buffer.from([20]), random.bytes(16), ...lists, Buffer.alloc(5)])
  const padding = 4 + ((8 - ((payload.length + 9) % 8)) % 8)
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length + padding + 1)
  head[4] = padding
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}

/** Each from another loopback address, so that the limits of one address refuse few. */
const stranger = async (world: World, random: Random): Promise<Attempt> => {
  const localAddress = `127.${1 + random.below(250)}.${random.below(250)}.${1 + random.below(250)}`
  const socket = connect({ host: '127.0.0.1', port: world.ssh!.port, localAddress, allowHalfOpen: true })
  let bytes = 0
  const first = new Promise<void>((resolve) => {
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.on('data', (piece) => {
      bytes += piece.length
      resolve()
    })
  })
  const sent = random.pick([
    Buffer.concat([banner, keyExchange(random), keyExchange(random)]),
    Buffer.concat([banner, keyExchange(random), random.bytes(random.below(200))]),
    Buffer.concat([banner, random.bytes(random.below(400))]),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    random.bytes(300),
  ])
  if (random.chance(0.8)) await Promise.race([first, delay(5_000)])
  socket.write(sent.subarray(0, random.below(sent.length + 1)))
  const last = random.pick(['reset', 'destroy', 'half-close'] as const)
  if (last === 'half-close') socket.end()
  await delay(random.pick([0, 2, random.below(100)]))
  if (last === 'destroy') socket.destroy()
  else socket.resetAndDestroy()
  return { status: bytes > 0 ? 200 : null, bytes, ending: last }
}

export const sshTargets: readonly Target[] = [
  { name: 'SSH connection', weight: 1.2, atOnceMax: 3, attempt: session },
  { name: 'SSH channel', weight: 0.8, atOnceMax: 1, attempt: channel },
  { name: 'SSH strangers', weight: 2, attempt: stranger },
]

import { createSocket } from 'node:dgram'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, runCommand } from '@dock/foundation'
import { rawDatagram } from '@dock/testkit/src/raw-datagram.ts'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type NameForwarder, startNameForwarder } from './name-forwarder.ts'

const logger = createLogger('test')
logger.level = 'silent'
const resolverPort = 20_053
const port = 20_054

test('queries and responses are relayed unchanged by UDP and TCP, and a silent resolver is skipped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-names-'))
  const resolvConf = join(folder, 'resolv.conf')
  // Nothing listens at the first address.
  await writeFile(resolvConf, '# x\nnameserver 127.0.0.7\nnameserver 127.0.0.8\n')
  const udp = createSocket('udp4')
  udp.on('message', (query, from) =>
    udp.send(Buffer.concat([Buffer.from('re:'), query]), from.port, from.address),
  )
  await new Promise<void>((resolve) => udp.bind(resolverPort, '127.0.0.8', resolve))
  const tcp = createServer((socket) => socket.on('data', (bytes) => socket.write(`re:${bytes}`)))
  await new Promise<void>((resolve) => tcp.listen(resolverPort, '127.0.0.7', resolve))
  const forwarder = await startNameForwarder({ address: '127.0.0.9', port, resolverPort, resolvConf, logger })
  try {
    const asker = createSocket('udp4')
    const answers = new Promise<string[]>((resolve) => {
      const got: string[] = []
      asker.on('message', (bytes) => {
        got.push(bytes.toString())
        if (got.length === 64) resolve(got)
      })
    })
    const asked = Array.from({ length: 64 }, (_, index) => `question ${index}`)
    for (const question of asked) asker.send(question, port, '127.0.0.9')
    expect((await answers).sort()).toEqual(asked.map((question) => `re:${question}`).sort())
    asker.close()

    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.9', () => socket.write('by tcp'))
      socket.once('data', (bytes) => {
        resolve(bytes.toString())
        socket.destroy()
      })
      socket.once('error', reject)
    })
    expect(text).toBe('re:by tcp')

    const open = Array.from({ length: 20 }, () => connect(port, '127.0.0.9'))
    const outcomes = await Promise.all(
      open.map(
        (socket) =>
          new Promise<string>((resolve) => {
            socket.once('error', () => resolve('closed')).once('close', () => resolve('closed'))
            socket.once('data', () => resolve('open'))
            socket.write('x')
          }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'open').length).toBeLessThanOrEqual(16)
    expect(outcomes.filter((outcome) => outcome === 'closed').length).toBeGreaterThanOrEqual(4)
    for (const socket of open) socket.destroy()
  } finally {
    await forwarder.close()
    udp.close()
    tcp.close()
    await rm(folder, { recursive: true })
  }
})

test("unanswered queries of some Docks do not use up a neighbour's places", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-names-'))
  const resolvConf = join(folder, 'resolv.conf')
  await writeFile(resolvConf, 'nameserver 127.0.0.18\n')
  const seen = new Map<string, number>()
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const kind = query.toString().split(' ')[0] ?? ''
    seen.set(kind, (seen.get(kind) ?? 0) + 1)
    if (kind === 'good') udp.send(`re:${query}`, from.port, from.address)
  })
  await new Promise<void>((resolve) => udp.bind(resolverPort, '127.0.0.18', resolve))
  const address = '127.0.0.19'
  const forwarder = await startNameForwarder({ address, port, resolverPort, resolvConf, logger })
  const askers = await Promise.all(
    Array.from({ length: 13 }, async (_, index) => {
      const asker = createSocket('udp4')
      await new Promise<void>((resolve) => asker.bind(0, `127.0.1.${index + 1}`, resolve))
      return asker
    }),
  )
  try {
    const [neighbour, ...flooders] = askers
    // Each Dock has 8 places of its own. The others use up all 512 shared ones.
    for (const [index, flooder] of flooders.entries()) {
      for (let number = 0; number < 80; number++) flooder.send(`bad ${number}`, port, address)
      const [own, shared] = [8 * (index + 1), Math.min(512, 56 * (index + 1))]
      await expect.poll(() => seen.get('bad'), { interval: 5 }).toBe(own + shared)
    }
    const answered = new Promise<string>((resolve) => {
      neighbour?.once('message', (bytes) => resolve(bytes.toString()))
    })
    neighbour?.send('good one', port, address)
    expect(await answered).toBe('re:good one')
    expect(seen.get('bad')).toBe(12 * 8 + 512)
  } finally {
    for (const asker of askers) asker.close()
    await forwarder.close()
    udp.close()
    await rm(folder, { recursive: true })
  }
})

test('an unreachable resolver is skipped', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-names-'))
  const resolvConf = join(folder, 'resolv.conf')
  // The kernel refuses to connect to the broadcast address, as it does without a route.
  await writeFile(resolvConf, 'nameserver 255.255.255.255\nnameserver 127.0.0.8\n')
  const udp = createSocket('udp4')
  udp.on('message', (query, from) => udp.send(query, from.port, from.address))
  await new Promise<void>((resolve) => udp.bind(resolverPort, '127.0.0.8', resolve))
  const forwarder = await startNameForwarder({ address: '127.0.0.9', port, resolverPort, resolvConf, logger })
  const asker = createSocket('udp4')
  try {
    const answer = new Promise((resolve) => asker.once('message', (bytes) => resolve(bytes.toString())))
    asker.send('question', port, '127.0.0.9')
    expect(await answer).toBe('question')
  } finally {
    asker.close()
    udp.close()
    await forwarder.close()
    await rm(folder, { recursive: true })
  }
})

describe('a query that cannot be answered', () => {
  let folder: string
  let udp: ReturnType<typeof createSocket>
  let forwarder: NameForwarder
  /** What the resolver was asked. */
  let seen: string[]
  let answers: (() => Promise<void>)[]
  let isAnswering: boolean
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dock-names-'))
    const resolvConf = join(folder, 'resolv.conf')
    await writeFile(resolvConf, 'nameserver 127.0.0.8\n')
    seen = []
    answers = []
    isAnswering = true
    udp = createSocket('udp4')
    udp.on('message', (query, from) => {
      seen.push(String(query))
      const answer = (): Promise<void> =>
        new Promise((resolve) => udp.send(query, from.port, from.address, () => resolve()))
      if (isAnswering) void answer()
      else answers.push(answer)
    })
    await new Promise<void>((resolve) => udp.bind(resolverPort, '127.0.0.8', resolve))
    forwarder = await startNameForwarder({ address: '127.0.0.9', port, resolverPort, resolvConf, logger })
  })
  afterEach(async () => {
    udp.close()
    await rm(folder, { recursive: true })
  })

  test('because it comes from port 0 is dropped, and the next one is answered', async () => {
    const asker = createSocket('udp4')
    const uncaught = await uncaughtDuring(async () => {
      await runCommand(...rawDatagram(0, { address: '127.0.0.9', port }, 'from port 0'))
      const answer = new Promise((resolve) => asker.once('message', (bytes) => resolve(String(bytes))))
      asker.send('question', port, '127.0.0.9')
      expect(await answer).toBe('question')
    })
    asker.close()
    await forwarder.close()
    expect(uncaught).toEqual([])
    expect(seen).toEqual(['question'])
  })

  test('because the forwarder has closed meanwhile is dropped', async () => {
    isAnswering = false
    const asker = createSocket('udp4')
    asker.send('question', port, '127.0.0.9')
    await expect.poll(() => answers.length).toBe(1)
    const uncaught = await uncaughtDuring(async () => {
      await forwarder.close()
      await answers[0]?.()
    })
    asker.close()
    expect(uncaught).toEqual([])
  })
})

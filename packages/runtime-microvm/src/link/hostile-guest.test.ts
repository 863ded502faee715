/** A guest that lies: each violation ends the link with an error for the driver, and memory stays bounded. */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { GuestLink } from './guest-link.ts'
import type { GuestProgram } from './guest-program.ts'
import { GuestViolation, LinkBroken } from './link-errors.ts'
import { endByte, protocol, sizes, types } from './protocol.ts'
import { collectGarbage } from './testing/collect-garbage.ts'
import { FakeGuest, words } from './testing/fake-guest.ts'

const request = { argv: ['/bin/true'], env: {}, cwd: '/', uid: 0, gid: 0 }
const bytes8 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const violated = expect.any(GuestViolation)

type Scene = { guest: FakeGuest; link: GuestLink; program: GuestProgram; id: number }

/** A link with a program that runs. */
const scene = async (): Promise<Scene> => {
  const guest = new FakeGuest()
  const link = await guest.link()
  const opening = link.open(request)
  const { channel: id } = guest.last(types.open)
  guest.say(types.opened, 0, id, words(100))
  return { guest, link, program: await opening, id }
}

describe('a violation ends the link', () => {
  const lies: Record<string, (scene: Scene) => void> = {
    'a frame of unknown type': ({ guest, id }) => guest.say(99, 0, id),
    'a frame of the host': ({ guest, id }) => guest.say(types.open, 0, id),
    'an unknown stream': ({ guest, id }) => guest.say(types.data, 3, id, Buffer.from('x')),
    'output on the input': ({ guest, id }) => guest.say(types.data, 0, id, Buffer.from('x')),
    'a frame that is too long': ({ guest, id }) =>
      guest.raw(Buffer.concat([Buffer.from([types.data, 1, 0, 0]), words(id, sizes.payloadMax + 1)])),
    'a frame of 4 GiB': ({ guest, id }) =>
      guest.raw(Buffer.concat([Buffer.from([types.data, 1, 0, 0]), words(id, 0xffff_ffff)])),
    'flags that do not exist': ({ guest, id }) =>
      guest.raw(Buffer.concat([Buffer.from([types.data, 1, 1, 0]), words(id, 1), Buffer.from([0, endByte])])),
    'a frame without its end': ({ guest, id }) =>
      guest.raw(Buffer.concat([Buffer.from([types.data, 1, 0, 0]), words(id, 1), Buffer.from([0, 0])])),
    'a channel that was never opened': ({ guest, id }) =>
      guest.say(types.data, 1, (id ^ 1) >>> 0, Buffer.from('x')),
    'channel 0': ({ guest }) => guest.say(types.data, 1, 0, Buffer.from('x')),
    'empty output': ({ guest, id }) => guest.say(types.data, 1, id),
    'output after its end': ({ guest, id }) => {
      guest.say(types.end, 1, id)
      guest.say(types.data, 1, id, Buffer.from('x'))
    },
    'two ends of an output': ({ guest, id }) => {
      guest.say(types.end, 2, id)
      guest.say(types.end, 2, id)
    },
    'two ends of a program': ({ guest, id }) => {
      guest.say(types.exited, 0, id, Buffer.from([0, 0, 0, 0]))
      guest.say(types.exited, 0, id, Buffer.from([0, 1, 0, 0]))
    },
    'an end of a kind that does not exist': ({ guest, id }) =>
      guest.say(types.exited, 0, id, Buffer.from([2, 0, 0, 0])),
    'signal 0': ({ guest, id }) => guest.say(types.exited, 0, id, Buffer.from([1, 0, 0, 0])),
    'signal 65': ({ guest, id }) => guest.say(types.exited, 0, id, Buffer.from([1, 65, 0, 0])),
    'fewer names than announced': ({ guest, id }) =>
      guest.say(types.exited, 0, id, Buffer.from([0, 0, 2, 0, 65, 0])),
    'a name that does not end': ({ guest, id }) =>
      guest.say(types.exited, 0, id, Buffer.concat([Buffer.from([0, 0, 1, 0]), Buffer.from('abc')])),
    'a name that is too long': ({ guest, id }) =>
      guest.say(
        types.exited,
        0,
        id,
        Buffer.concat([Buffer.from([0, 0, 1, 0]), Buffer.from(`${'a'.repeat(16)}\0`)]),
      ),
    'a program that opens twice': ({ guest, id }) => guest.say(types.opened, 0, id, words(101)),
    'a refusal of what runs': ({ guest, id }) => guest.say(types.refused, 0, id, Buffer.from([1])),
    'an attachment that nobody asked for': ({ guest, id }) =>
      guest.say(types.attached, 0, id, Buffer.alloc(40)),
    'a confirmation that nobody asked for': ({ guest, id }) => guest.say(types.closed, 0, id),
    'acknowledged input that was never sent': ({ guest, id }) => guest.say(types.ack, 0, id, bytes8(1n)),
    'a position beyond all numbers': ({ guest, id }) => guest.say(types.ack, 0, id, bytes8(2n ** 64n - 1n)),
    'half a position': ({ guest, id }) => guest.say(types.ack, 0, id, words(0)),
    'output of a closed program beyond what was under way': ({ guest, program, id }) => {
      void program.close()
      for (let sent = 0; sent <= 3 * sizes.window; sent += sizes.payloadMax)
        guest.say(types.data, 1, id, Buffer.alloc(sizes.payloadMax))
    },
    'endless frames of a program that was left': ({ guest, link, program, id }) => {
      void link.leave(program)
      for (let frame = 0; frame <= 2 * sizes.window; frame += 8) guest.say(types.ack, 0, id, bytes8(0n))
      for (let frame = 0; frame <= 1_024; frame += 1) guest.say(types.end, 1, id)
    },
    'a reply to no call': ({ guest }) => guest.say(types.reply, 0, 77, words(0)),
    'more output than the window': ({ guest, id }) => {
      for (let sent = 0; sent <= sizes.window; sent += sizes.payloadMax)
        guest.say(types.data, 1, id, Buffer.alloc(sizes.payloadMax))
    },
    'a log line that is too long': ({ guest }) => guest.say(types.log, 0, 0, Buffer.alloc(sizes.textMax + 1)),
    'a flood of log lines': ({ guest }) => {
      for (let line = 0; line < 2_000; line += 1) guest.say(types.log, 0, 0, Buffer.from('line'))
    },
    'a flood of events': ({ guest }) => {
      for (let event = 0; event < 2_000; event += 1) guest.say(types.outOfMemory, 0, 0, words(5, 65))
    },
  }

  it.each(Object.entries(lies))('%s', async (_, lie) => {
    const { guest, link, program, id } = await scene()
    lie({ guest, link, program, id })
    expect(await link.closed).toEqual(violated)
    expect(guest.connection.destroyed).toBe(true)
    await expect(link.open(request)).rejects.toEqual(violated)
    await expect(link.ping()).rejects.toEqual(violated)
    await expect(link.resume(new FakeGuest().connection)).rejects.toEqual(violated)
  })

  const openings: Record<string, (guest: FakeGuest, id: number) => void> = {
    'number 0': (guest, id) => guest.say(types.opened, 0, id, words(0)),
    'number 1, which is the agent': (guest, id) => guest.say(types.opened, 0, id, words(1)),
    'a number that no process has': (guest, id) => guest.say(types.opened, 0, id, words(0xffff_ffff)),
    'half a number': (guest, id) => guest.say(types.opened, 0, id, Buffer.from([1])),
    'output before it runs': (guest, id) => guest.say(types.data, 1, id, Buffer.from('x')),
    'a refusal without a reason': (guest, id) => guest.say(types.refused, 0, id),
    'a refusal for a reason that does not exist': (guest, id) =>
      guest.say(types.refused, 0, id, Buffer.from([200])),
  }
  it.each(Object.entries(openings))('a program that starts with %s', async (_, lie) => {
    const guest = new FakeGuest()
    const link = await guest.link()
    const opening = link.open(request)
    const { channel: id } = guest.last(types.open)
    lie(guest, id)
    await expect(opening).rejects.toEqual(violated)
    expect(await link.closed).toEqual(violated)
  })

  const lists: Record<string, Buffer> = {
    'half a process': words(5, 1, 0),
    'processes in no order': Buffer.concat([
      words(5, 1, 0),
      Buffer.from([0, 0]),
      words(5, 1, 0),
      Buffer.from([0, 0]),
    ]),
    'a name beyond the end': Buffer.concat([words(5, 1, 0), Buffer.from([0, 9])]),
    'a name that is too long': Buffer.concat([words(5, 1, 0), Buffer.from([0, 16]), Buffer.alloc(16)]),
    'no process': Buffer.concat([words(0, 1, 0), Buffer.from([0, 0])]),
  }
  it.each(Object.entries(lists))('a list with %s', async (_, list) => {
    const guest = new FakeGuest()
    const link = await guest.link()
    const listing = link.processes()
    guest.say(types.reply, 0, guest.last(types.call).channel, Buffer.concat([words(0), list]))
    await expect(listing).rejects.toEqual(violated)
    expect(await link.closed).toEqual(violated)
  })

  it('a list that goes on and on', async () => {
    const guest = new FakeGuest()
    const link = await guest.link()
    const listing = link.processes()
    let pid = 0
    let hasListed = false
    void listing.finally(() => {
      hasListed = true
    })
    while (!hasListed) {
      const page = Array.from({ length: 4_000 }, (_, index) =>
        Buffer.concat([words(pid + index + 1, 1, 0), Buffer.from([0, 0])]),
      )
      pid += page.length
      guest.say(types.reply, 0, guest.last(types.call).channel, Buffer.concat([words(0), ...page]))
      await turn()
    }
    expect((await listing).length).toBeLessThan(65_536 + 4_000)
    link.end()
  })

  it('a machine that reads nothing', async () => {
    const { guest, link } = await scene()
    // Its connection takes no byte any more.
    guest.connection._write = () => undefined
    const large = { ...request, argv: ['/bin/true', 'x'.repeat(1_000_000)] }
    for (let sent = 0; sent < 100; sent += 1) link.open(large).catch(() => undefined)
    expect(await link.closed).toEqual(violated)
  })
})

describe('a greeting', () => {
  it.each<[string, (payload: Buffer) => void]>([
    ['another window', (payload) => payload.writeUInt32LE(1, 20)],
    ['a version that was not offered', (payload) => payload.writeUInt16LE(protocol.newest + 1, 0)],
  ])('with %s ends the link', async (_, change) => {
    const guest = new FakeGuest()
    const connecting = GuestLink.connect(guest.connection)
    guest.welcome(change)
    await expect(connecting).rejects.toThrow(/window|version/)
    expect(guest.connection.destroyed).toBe(true)
  })

  it('of an agent that speaks no common version says so, and is no violation', async () => {
    await expect(new FakeGuest(0).link()).rejects.toEqual(
      expect.objectContaining({ name: 'LinkBroken', message: expect.stringContaining('version') }),
    )
  })

  it('offers every version that the host speaks', async () => {
    const guest = new FakeGuest()
    const link = await guest.link()
    const { payload } = guest.last(types.hello)
    expect([payload.readUInt16LE(0), payload.readUInt16LE(2)]).toEqual([protocol.newest, protocol.oldest])
    link.end()
  })

  it('is found behind what is left of an earlier connection, whose bytes are dropped', async () => {
    for (const left of [1, 100, 70_000, 3 * 2 ** 20]) {
      const guest = new FakeGuest()
      const connecting = GuestLink.connect(guest.connection)
      for (let sent = 0; sent < left; sent += 60_000)
        guest.raw(Buffer.alloc(Math.min(60_000, left - sent), 7))
      guest.welcome()
      const link = await connecting
      expect(link.isRunning).toBe(true)
      link.end()
    }
  })

  it('that never comes is not waited for', async () => {
    await expect(GuestLink.connect(new FakeGuest().connection, { helloMs: 20 })).rejects.toBeInstanceOf(
      LinkBroken,
    )
    const endless = new FakeGuest()
    const connecting = GuestLink.connect(endless.connection)
    for (let sent = 0; sent < 100; sent += 1) endless.raw(Buffer.alloc(65_536, 7))
    await expect(connecting).rejects.toEqual(violated)
  })
})

describe('what a guest may say', () => {
  it('is made plain before anybody logs or shows it', async () => {
    const guest = new FakeGuest()
    const lines: string[] = []
    const events: unknown[] = []
    const link = await guest.link({
      onLog: (line) => lines.push(line),
      onOutOfMemory: (event) => events.push(event),
    })
    guest.say(types.log, 0, 0, Buffer.concat([Buffer.from('a\n\x1b[31mb\u202e'), Buffer.from([0xff])]))
    guest.say(types.outOfMemory, 0, 5, Buffer.concat([words(9), Buffer.from('x\ny')]))
    expect(lines).toEqual(['a??[31mb??'])
    expect(events).toEqual([{ program: 5, pid: 9, name: 'x?y' }])
    link.end()
  })

  it('takes no more memory in tiny pieces than in large ones', async () => {
    const { guest, link, program, id } = await scene()
    collectGarbage()
    const before = process.memoryUsage()
    const one = Buffer.from('x')
    for (let sent = 0; sent < sizes.window; sent += 1) guest.say(types.data, 1, id, one)
    expect(program.stdout.received).toBe(sizes.window)
    collectGarbage()
    const after = process.memoryUsage()
    const held = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
    expect(held).toBeLessThan(8 * sizes.window)
    let taken = 0
    let chunks = 0
    for await (const chunk of program.stdout) {
      taken += (chunk as Buffer).length
      chunks += 1
      if (taken === sizes.window) guest.say(types.end, 1, id)
    }
    expect([taken, chunks < 64]).toEqual([sizes.window, true])
    link.end()
  })

  it('ends with the connection, and a later one goes on', async () => {
    const { guest, link, program, id } = await scene()
    const call = link.ping()
    guest.say(types.data, 1, id, Buffer.from('before '))
    guest.connection.destroy()
    await expect(call).rejects.toBeInstanceOf(LinkBroken)
    await link.broken
    await expect(link.ping()).rejects.toBeInstanceOf(LinkBroken)
    const next = new FakeGuest()
    const resuming = link.resume(next.connection)
    next.welcome()
    await resuming
    const attach = next.last(types.attach)
    expect([attach.channel, Number(attach.payload.readBigUInt64LE(8))]).toEqual([id, 7])
    const attached = Buffer.alloc(40)
    attached.writeUInt32LE(100)
    attached.writeBigUInt64LE(7n, 24)
    next.say(types.attached, 0, id, attached)
    next.say(types.data, 1, id, Buffer.from('after'))
    next.say(types.end, 1, id)
    let seen = ''
    for await (const chunk of program.stdout) seen += chunk
    expect(seen).toBe('before after')
    link.end()
    await expect(program.exited).rejects.toBeInstanceOf(LinkBroken)
  })

  it.each([
    ['another program', (payload: Buffer) => payload.writeUInt32LE(101)],
    ['another position', (payload: Buffer) => payload.writeBigUInt64LE(8n, 24)],
    ['input that was never sent', (payload: Buffer) => payload.writeBigUInt64LE(9n, 16)],
  ])('is checked after a new connection: %s', async (_, change) => {
    const { guest, link, id } = await scene()
    guest.say(types.data, 1, id, Buffer.from('before '))
    guest.connection.destroy()
    await link.broken
    const next = new FakeGuest()
    const resuming = link.resume(next.connection)
    next.welcome()
    await resuming
    const attached = Buffer.alloc(40)
    attached.writeUInt32LE(100)
    attached.writeBigUInt64LE(7n, 24)
    change(attached)
    next.say(types.attached, 0, id, attached)
    expect(await link.closed).toEqual(violated)
  })
})

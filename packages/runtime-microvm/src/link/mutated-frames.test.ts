/** 100,000 mutated frames of a guest. The link ends with a violation or goes on; nothing else happens. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { frameParts } from './frames.ts'
import type { GuestLink } from './guest-link.ts'
import { GuestViolation } from './link-errors.ts'
import { sizes, types } from './protocol.ts'
import { collectGarbage } from './testing/collect-garbage.ts'
import { FakeGuest, words } from './testing/fake-guest.ts'

const framesMin = 100_000
const request = { argv: ['/bin/true'], env: {}, cwd: '/', uid: 0, gid: 0 }

/** Numbers below `below`, the same for the same seed. */
const createDraw = (seed: number): ((below: number) => number) => {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Draw = ReturnType<typeof createDraw>

/** A frame that an agent might send in this state, before it is mutated. */
const makeFrame = (draw: Draw, ids: readonly number[], call: number): Buffer => {
  const id = ids[draw(ids.length)]!
  const stream = 1 + draw(2)
  const kinds: (() => Buffer[])[] = [
    () => frameParts(types.data, stream, id, Buffer.alloc(1 + draw(draw(4) ? 100 : sizes.payloadMax), 'x')),
    () => frameParts(types.data, stream, id, Buffer.alloc(1 + draw(64), 'y')),
    () => frameParts(types.ack, 0, id, Buffer.alloc(8)),
    () => frameParts(types.log, 0, 0, Buffer.alloc(draw(sizes.textMax + 1), 'l')),
    () => frameParts(types.outOfMemory, 0, id, Buffer.concat([words(2 + draw(1000)), Buffer.from('name')])),
    () => frameParts(types.reply, 0, call, Buffer.concat([words(draw(3)), Buffer.alloc(draw(100))])),
    () => frameParts(types.exited, 0, id, Buffer.from([0, draw(256), 1, 0, 65, 66, 0])),
    () => frameParts(types.end, stream, id, Buffer.alloc(0)),
    () => frameParts(types.opened, 0, id, words(2 + draw(1000))),
    () => frameParts(types.refused, 0, id, Buffer.from([1 + draw(6), 65])),
    () => frameParts(types.closed, 0, id, Buffer.alloc(0)),
    () => frameParts(types.attached, 0, id, Buffer.alloc(40)),
  ]
  return Buffer.concat(kinds[draw(draw(3) ? 5 : kinds.length)]!())
}

const mutate = (draw: Draw, frame: Buffer): Buffer => {
  if (draw(64) === 0) return frame.subarray(0, draw(frame.length))
  if (draw(64) === 0) return Buffer.concat([frame, Buffer.alloc(1 + draw(20), draw(256))])
  // Mostly in the payload, because most links do not survive a change of the header.
  const head = Math.min(frame.length, sizes.header)
  const begin = draw(8) === 0 || frame.length <= sizes.header + 1 ? 0 : head
  for (let bits = 1 + draw(2); bits > 0; bits -= 1)
    frame[begin + draw((begin === 0 ? head : frame.length - 1) - begin)]! ^= 1 << draw(8)
  return frame
}

/** Runs one link until it ends, or for some frames. Returns how many it got, and how it ended. */
const runLink = async (draw: Draw): Promise<{ frames: number; end: Error | undefined }> => {
  const guest = new FakeGuest()
  const link: GuestLink = await guest.link()
  let end: Error | undefined
  void link.closed.then((error) => {
    end = error
  })
  const ids: number[] = []
  for (let opened = 0; opened < 2; opened += 1) {
    const opening = link.open(request)
    opening.catch(() => undefined)
    const { channel: id } = guest.last(types.open)
    ids.push(id)
    // One of them is still being started.
    if (opened === 1) break
    guest.say(types.opened, 0, id, words(100 + opened))
    const program = await opening
    program.stdout.resume()
    program.exited.catch(() => undefined)
  }
  link.processes().catch(() => undefined)
  const { channel: call } = guest.last(types.call)
  let frames = 0
  while (!guest.connection.destroyed && frames < 500) {
    guest.raw(mutate(draw, makeFrame(draw, ids, call)))
    frames += 1
  }
  // Streams tidy up after this turn.
  await turn()
  if (!guest.connection.destroyed) link.end()
  await link.closed
  return { frames, end }
}

/** Bytes that are still in use once all garbage is collected. */
const retained = (): number => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

it('a link survives no frame that it cannot read, and throws nothing', async () => {
  const draw = createDraw(49)
  let frames = 0
  let violations = 0
  let longest = 0
  const before = retained()
  while (frames < framesMin) {
    const { frames: got, end } = await runLink(draw)
    frames += got
    longest = Math.max(longest, got)
    if (end instanceof GuestViolation) {
      violations += 1
      // An error of our own would show that a check is missing.
      if (end.cause) throw end.cause
    }
  }
  // Links end by violations, but not all at once: frames reach every state.
  expect(violations).toBeGreaterThan(100)
  expect(longest).toBeGreaterThan(10)
  expect(retained() - before).toBeLessThan(64 * 2 ** 20)
})

import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { limits } from '@dock/contract'
import { createBufferBudget } from '@dock/ssh-server'
import { expect, it } from 'vitest'
import type { RemoteProcess } from '../../../modules/hosts/index.ts'
import { createForwarder, portOf } from './forwarder.ts'
import {
  chunkBytesMax,
  createFrameReader,
  encodeFrame,
  type Frame,
  frameType,
  windowBytes,
} from './forwarder-frames.ts'

/** `used` bytes of the person's budget wait in other connections. */
const share = (used = 0) => {
  const joined = createBufferBudget(limits.ssh.bufferedBytesPerUserMax).join('ann', () => used)
  joined.note()
  return joined
}
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Plays the program in the Dock: sends frames, and keeps those that arrive. */
const playProgram = () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const frames: Frame[] = []
  const end = Promise.withResolvers<never>()
  end.promise.catch(() => undefined)
  let isLeft = false
  stdin.on(
    'data',
    createFrameReader((frame) => void frames.push({ ...frame, payload: Buffer.from(frame.payload) })),
  )
  const program: RemoteProcess = {
    id: 'id',
    stdin,
    stdout,
    stderr,
    exited: end.promise,
    resize: async () => undefined,
    signal: async () => undefined,
    closeStdout: () => undefined,
    hangUp: () => {
      isLeft = true
    },
  }
  return {
    program,
    frames,
    say: (type: number, stream: number, payload: Buffer | string = '') =>
      stdout.write(encodeFrame(type, stream, Buffer.from(payload))),
    sayBytes: (bytes: Buffer) => stdout.write(bytes),
    isLeft: () => isLeft,
  }
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A forwarder with one connected stream, whose id is 1. */
const connected = async () => {
  const played = playProgram()
  let hasEnded = false
  const forwarder = createForwarder(played.program, share(), () => {
    hasEnded = true
  })
  const connecting = forwarder.connect('host', 80)
  played.say(frameType.opened, 1)
  return { ...played, forwarder, stream: await connecting, hasEnded: () => hasEnded }
}

it('sends at most a window of bytes until more is granted', async () => {
  const { stream, frames, say } = await connected()
  stream.end(Buffer.alloc(windowBytes + 10))
  await settled()
  const sent = () =>
    frames.filter(({ type }) => type === frameType.data).reduce((sum, { payload }) => sum + payload.length, 0)
  expect(sent()).toBe(windowBytes)
  say(frameType.grant, 1, uint32(10))
  await settled()
  expect(sent()).toBe(windowBytes + 10)
  expect(frames.at(-1)?.type).toBe(frameType.finish)
})

it('delivers what came before the end', async () => {
  const { stream, frames, say } = await connected()
  for (let at = 0; at < windowBytes; at += chunkBytesMax) say(frameType.data, 1, Buffer.alloc(chunkBytesMax))
  say(frameType.finish, 1)
  say(frameType.close, 1)
  await settled()
  expect((await buffer(stream)).length).toBe(windowBytes)
  expect(frames.filter(({ type }) => type === frameType.grant)).toEqual([])
})

it('grants bytes once they are read', async () => {
  const { stream, frames, say } = await connected()
  for (let at = 0; at < windowBytes; at += chunkBytesMax) say(frameType.data, 1, Buffer.alloc(chunkBytesMax))
  await settled()
  const granted = () =>
    frames
      .filter(({ type }) => type === frameType.grant)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(), 0)
  expect(granted()).toBe(0)
  stream.resume()
  await expect.poll(granted).toBe(windowBytes)
})

it('reports why a connection fails', async () => {
  const { program, say } = playProgram()
  const forwarder = createForwarder(program, share(), () => undefined)
  const connecting = forwarder.connectUnix('/x')
  say(frameType.failed, 1, 'No such file or directory')
  await expect(connecting).rejects.toThrow('No such file or directory')
})

it.each<[string, (played: Awaited<ReturnType<typeof connected>>) => void]>([
  ['a frame that is too long', ({ sayBytes }) => sayBytes(uint32(2 ** 31))],
  ['a frame without a stream', ({ sayBytes }) => sayBytes(Buffer.concat([uint32(1), Buffer.from([7])]))],
  ['an accepted stream with a wrong id', ({ say }) => say(frameType.accepted, 1, uint32(1))],
  ['a grant of bytes that were not sent', ({ say }) => say(frameType.grant, 1, uint32(1))],
  [
    'more bytes than were granted',
    ({ say }) => {
      for (let at = 0; at <= windowBytes; at += chunkBytesMax)
        say(frameType.data, 1, Buffer.alloc(chunkBytesMax))
    },
  ],
])('ends a program that sends %s', async (_, misbehave) => {
  const played = await connected()
  misbehave(played)
  await settled()
  expect([played.isLeft(), played.hasEnded(), played.stream.destroyed]).toEqual([true, true, true])
  await expect(played.forwarder.connect('host', 80)).rejects.toThrow('has ended')
})

it('ignores frames of streams that it does not know', async () => {
  const { say, isLeft } = await connected()
  for (const type of [...Object.values(frameType), 99])
    if (type !== frameType.accepted) say(type, 77, uint32(1))
  await settled()
  expect(isLeft()).toBe(false)
})

it.each<[string, number | undefined]>([
  ['4711', 4711],
  ['65535', 65_535],
  ...['0', '65536', '1215752191', '-1', '1e3', '0x50', 'NaN', ' 80', '', '80\n'].map(
    (text): [string, undefined] => [text, undefined],
  ),
])('reads %j as the port %s', (text, port) => {
  expect(portOf(text)).toBe(port)
})

it('accepts only so many connections, of listeners that it has opened', async () => {
  const { forwarder, say, frames } = await connected()
  let accepted = 0
  const listening = forwarder.listen('127.0.0.1', 0, () => {
    accepted += 1
  })
  say(frameType.opened, 2, '4711')
  expect((await listening).shown).toBe('4711')
  for (let at = 0; at < limits.ssh.forwardedPerConnectionMax + 20; at++)
    say(
      frameType.accepted,
      0x80000000 + at,
      Buffer.concat([uint32(at === 0 ? 3 : 2), Buffer.from('::1\x0a3')]),
    )
  await settled()
  expect(accepted).toBe(limits.ssh.forwardedPerConnectionMax - 1)
  expect(frames.filter(({ type }) => type === frameType.close)).toHaveLength(21)
})

it('ends a program that takes nothing once all connections of the person hold too much', async () => {
  const program = playProgram().program
  program.stdin.on('error', () => undefined)
  ;(program.stdin as PassThrough).removeAllListeners('data').pause()
  let ended = false
  const full = share(limits.ssh.bufferedBytesPerUserMax)
  const forwarder = createForwarder(program, full, () => {
    ended = true
  })
  for (let at = 0; at < 20; at++)
    void forwarder.connectUnix('x'.repeat(windowBytes / 8)).catch(() => undefined)
  await settled()
  expect(ended).toBe(true)
})

it('ends a program that makes it answer and never reads the answers', async () => {
  const { program, sayBytes, hasEnded, isLeft } = await connected()
  program.stdin.on('error', () => undefined)
  ;(program.stdin as PassThrough).removeAllListeners('data').pause()
  const frames = Buffer.concat(
    Array.from({ length: 10_000 }, (_, at) => encodeFrame(frameType.accepted, 0x80000000 + at, uint32(99))),
  )
  for (let round = 0; round < 50; round++) {
    sayBytes(frames)
    await settled()
  }
  expect([hasEnded(), isLeft()]).toEqual([true, true])
})

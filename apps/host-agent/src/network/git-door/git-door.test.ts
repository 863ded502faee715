/** The door of one Dock with real connections: it passes them on unchanged, and limits them. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createLogger } from '@dock/foundation'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { burst, refillMs } from './connection-limiter.ts'
import { connectionsMax, openGitDoor } from './git-door.ts'

const logger = createLogger('test')
logger.level = 'silent'
let taken: Socket[]
let clock: VirtualClock
let door: Awaited<ReturnType<typeof openGitDoor>>
beforeEach(async () => {
  taken = []
  const take = (socket: Socket): void => void taken.push(socket)
  clock = createVirtualClock()
  door = await openGitDoor({ address: '127.0.0.1', port: 0, logger, clock, take })
})
afterEach(() => door.close())

const open = (): Socket => connect(door.port, '127.0.0.1').on('error', () => undefined)

it('passes a connection on unread', async () => {
  const socket = open()
  socket.write('GET / HTTP/1.1\r\n\r\n')
  await expect.poll(() => taken).toHaveLength(1)
  expect(taken[0]!.isPaused()).toBe(true)
  const [bytes] = await once(taken[0]!.resume(), 'data')
  expect(String(bytes)).toBe('GET / HTTP/1.1\r\n\r\n')
  socket.destroy()
})

it('limits the number of open connections', async () => {
  const sockets = Array.from({ length: connectionsMax }, open)
  await expect.poll(() => taken).toHaveLength(connectionsMax)
  const other = open()
  await once(other.resume(), 'close')
  expect(taken).toHaveLength(connectionsMax)
  for (const socket of sockets) socket.destroy()
})

/** Connects `times` times, and waits each time until the connection is passed on. */
const connectTimes = async (times: number): Promise<void> => {
  for (let count = 0; count < times; count += 1) {
    const before = taken.length
    const socket = open()
    await expect.poll(() => taken.length > before || socket.destroyed, { interval: 1 }).toBe(true)
    taken.at(-1)!.destroy()
  }
}

it('accepts the clones of fifty repositories at once, and makes further connections wait instead of fail', async () => {
  await connectTimes(150)
  expect(taken).toHaveLength(150)
  await connectTimes(burst - 150)
  const ends = [open(), open()].map((socket) => once(socket.resume(), 'close'))
  await expect
    .poll(async () => {
      await clock.advanceInSteps(refillMs)
      return taken.length
    })
    .toBe(burst + 2)
  for (const socket of taken) socket.destroy()
  await Promise.all(ends)
})

it('closes open connections when it closes', async () => {
  const socket = open()
  await expect.poll(() => taken).toHaveLength(1)
  const closed = once(socket.resume(), 'close')
  door.close()
  await closed
})

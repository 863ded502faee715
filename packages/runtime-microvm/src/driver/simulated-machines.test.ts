/** Tests the driver on machines that are simulated. Those of create-microvm-driver.test.ts are real. */
import { createLogger, newUuid } from '@dock/foundation'
import { expect, test, vi } from 'vitest'
import { types } from '../link/protocol.ts'
import { words } from '../link/testing/fake-guest.ts'
import type { Machines } from '../machine/open-machines.ts'
import { createMicrovmDriver } from './create-microvm-driver.ts'
import { machineName } from './machine-name.ts'
import { fakeMachine } from './testing/fake-machine.ts'

const handleOf = (dockId: string) => ({
  driver: 'microvm',
  version: 1,
  dockId,
  generation: 1,
  data: {},
})

test('calls that need a machine at once take it over once, and its next ones use what they found', async () => {
  const dockId = newUuid()
  const { machine } = fakeMachine(machineName(dockId, 1))
  const { promise: found, resolve } = Promise.withResolvers<typeof machine>()
  const find = vi.fn(() => found)
  const driver = createMicrovmDriver({
    open: async () => ({ vmm: { find }, tree: { name: 'tree' } }) as unknown as Machines,
    pumpSocket: '/nonexistent/pump.sock',
    logger: createLogger('test', { write: () => undefined }),
  })
  const handle = handleOf(dockId)
  const recovering = [driver.recover(handle), driver.recover(handle)]
  await vi.waitFor(() => expect(find).toHaveBeenCalled())
  resolve(machine)
  expect(await Promise.all(recovering)).toEqual(['running', 'running'])
  expect(await driver.recover(handle)).toBe('running')
  expect(find).toHaveBeenCalledTimes(1)
})

test('a machine that could not be taken over is tried again', async () => {
  const dockId = newUuid()
  const { machine } = fakeMachine(machineName(dockId, 1))
  const find = vi.fn(async () => machine).mockRejectedValueOnce(new Error('does not answer'))
  const driver = createMicrovmDriver({
    open: async () => ({ vmm: { find }, tree: { name: 'tree' } }) as unknown as Machines,
    pumpSocket: '/nonexistent/pump.sock',
    logger: createLogger('test', { write: () => undefined }),
  })
  await expect(driver.recover(handleOf(dockId))).rejects.toThrow('does not answer')
  expect(await driver.recover(handleOf(dockId))).toBe('running')
})

test('a program that ends while the guest lists its programs is not abandoned', async () => {
  const dockId = newUuid()
  const { machine, guest } = fakeMachine(machineName(dockId, 1))
  const driver = createMicrovmDriver({
    open: async () => ({ vmm: { find: async () => machine }, tree: { name: 'tree' } }) as unknown as Machines,
    pumpSocket: '/nonexistent/pump.sock',
    logger: createLogger('test', { write: () => undefined }),
  })
  const handle = handleOf(dockId)
  const request = { argv: ['/bin/true'], env: {}, cwd: '/', uid: 0, gid: 0 }
  const opening = driver.openProcess(handle, request)
  await expect.poll(() => guest.heard.at(-1)?.type).toBe(types.open)
  const { channel } = guest.last(types.open)
  guest.say(types.opened, 0, channel, words(100))
  const { exited } = await opening

  const listing = driver.abandonedExecs(handle)
  await expect.poll(() => guest.heard.at(-1)?.type).toBe(types.call)
  const first = guest.last(types.call).channel
  const stranger = channel === 2 ** 32 - 1 ? channel - 1 : channel + 1
  const running = [words(channel, 100, 0), words(stranger, 101, 0)]
  guest.say(
    types.reply,
    0,
    first,
    Buffer.concat([words(0), ...(stranger < channel ? running.reverse() : running)]),
  )
  guest.say(types.exited, 0, channel, Buffer.from([0, 0, 0, 0]))
  await exited
  await expect.poll(() => guest.last(types.call).channel).not.toBe(first)
  guest.say(types.reply, 0, guest.last(types.call).channel, words(0))
  expect(await listing).toEqual([{ pid: 101, mark: stranger.toString(16) }])
})

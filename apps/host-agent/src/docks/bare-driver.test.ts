/** Docks on a runtime that lacks every capability and takes disks as devices, such as a microVM may be. */
import { newOperationId, newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost({ isBare: true })
  dockId = newUuid()
})
afterEach(() => host.remove())

const dock = () => host.agent.docks.getForCommand(dockId)

test('the host hands the device on and never mounts the disk, from start to stop', async () => {
  await dock().start(startCommand({ files: [{ path: 'token', contents: 'secret' }] }))
  expect(host.driver.started).toMatchObject([{ disk: { device: `/memory/${dockId}.raw` } }])
  // Files enter the running sandbox: nobody outside can write to the disk.
  expect(host.driver.executed.length).toBeGreaterThan(0)
  expect([...host.disks.attached]).toEqual([])
  await dock().stop({ operationId: newOperationId(), generation: 1, captureId: newUuid() })
  expect([...host.disks.attached]).toEqual([])
  expect((await host.disks.list()).captures).toHaveLength(1)
  expect(host.driver.isAlive(dockId)).toBe(false)
})

test('a sandbox whose disk the host never mounts is frozen while it is captured, and runs on', async () => {
  await host.remove()
  host = await createMemoryHost({ takesDevices: true })
  await dock().start(startCommand())
  const frozenMeanwhile: string[] = []
  const { capture } = host.disks
  host.disks.capture = async (...given) => {
    frozenMeanwhile.push(...host.driver.frozen)
    return await capture(...given)
  }
  await dock().capture({ operationId: newOperationId(), generation: 1, captureId: newUuid() })
  expect(frozenMeanwhile).toHaveLength(1)
  expect([...host.driver.frozen]).toEqual([])
})

test.each([
  ['as after a power cut', true, false, { sizeBytes: expect.any(Number), afterPowerCut: true }],
  ['whole', true, true, { sizeBytes: expect.any(Number) }],
  ['whole on a disk that the host has mounted', false, false, { sizeBytes: expect.any(Number) }],
])('a capture is %s, and says so', async (_, takesDevices, hasWritten, captured) => {
  await host.remove()
  host = await createMemoryHost({ takesDevices })
  await dock().start(startCommand())
  const { freezing } = host.driver.capabilities
  const { freeze } = freezing
  freezing.freeze = async (handle) => {
    await freeze(handle)
    return hasWritten
  }
  const capture = { operationId: newOperationId(), generation: 1, captureId: newUuid() }
  expect(await dock().capture(capture)).toEqual(captured)
  expect(await dock().stop({ ...capture, captureId: newUuid() })).toEqual({ capture: captured })
})

test('a sandbox that cannot be frozen is ended, and its disk is as after a power cut', async () => {
  await host.remove()
  host = await createMemoryHost({ takesDevices: true })
  await dock().start(startCommand())
  host.driver.failNext('freeze', new Error('no monitor'))
  const stop = { operationId: newOperationId(), generation: 1, captureId: newUuid() }
  expect((await dock().stop(stop)).capture).toMatchObject({ afterPowerCut: true })
})

test('no sandbox waits in the warm pool, and an idle Dock stays awake', async () => {
  const endWatch = host.agent.watch()
  await dock().start(startCommand())
  await host.clock.advanceInSteps(60_000)
  expect(host.driver.started).toHaveLength(1)
  expect([...host.driver.frozen]).toEqual([])
  endWatch()
})

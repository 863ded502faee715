/** A Dock's former disk and boot, when the control plane knows less about the Dock than its host does. */
import { newOperationId, newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NoSpace } from './host-resources.ts'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
})
afterEach(() => host.remove())

const dock = () => host.agent.docks.getForCommand(dockId)
const capturesOf = async () => (await host.disks.list()).captures
const command = (generation = 1) => ({ operationId: newOperationId(), generation })

test('a newer boot from an image keeps the former disk as a capture', async () => {
  await dock().start(startCommand())
  await dock().start(startCommand({ generation: 2 }))
  expect(await capturesOf()).toHaveLength(1)
  expect((await host.residue()).sandboxes).toEqual([`${dockId}/2`])
})

test('a disk that cannot be captured stays, however often the boot is repeated', async () => {
  await dock().start(startCommand())
  for (const _ of [1, 2]) {
    host.disks.failNext('capture', new NoSpace('full'))
    await expect(dock().start(startCommand({ generation: 2 }))).rejects.toBeInstanceOf(NoSpace)
    expect((await host.residue()).disks).toEqual([dockId])
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1, state: 'stopped' }])
  }
  await dock().start(startCommand({ generation: 2 }))
  expect(await capturesOf()).toHaveLength(1)
})

test('an agent that ends while it captures the former disk leaves that disk to the next agent', async () => {
  await dock().start(startCommand())
  const reached = host.disks.hangNext('capture')
  dock()
    .start(startCommand({ generation: 2 }))
    .catch(() => undefined)
  await reached
  host.agent = await host.startAgent()
  expect((await host.residue()).disks).toEqual([dockId])
  expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1 }])
})

test('the disk of a failed recovery counts as used', async () => {
  await dock().start(startCommand())
  await dock().stop({ ...command(), captureId: null })
  host.driver.failNext('start', new Error('no boot'))
  const own = startCommand({ generation: 2, source: { kind: 'own' } })
  await expect(dock().start(own)).rejects.toThrow('no boot')
  await dock().start(startCommand({ generation: 3 }))
  expect(await capturesOf()).toHaveLength(1)
})

test('repeating the present start after captures returns its result, another start is busy', async () => {
  const once = startCommand()
  const answer = await dock().start(once)
  await dock().capture({ ...command(), captureId: newUuid() })
  expect(await dock().start(once)).toEqual(answer)
  await expect(dock().start(startCommand())).rejects.toMatchObject({ code: 'busy' })
  await host.agent.shutdown()
  host.agent = await host.startAgent()
  expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'stopped' }])
  expect(await dock().start(once)).toEqual(answer)
  expect(host.driver.started).toHaveLength(1)
})

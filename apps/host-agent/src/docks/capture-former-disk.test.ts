/** A Dock's former disk and boot, when the control plane knows less about the Dock than its host does. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newOperationId, newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NoSpace } from '../disks/pool.ts'

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

const undo = (generation: number) => dock().destroy({ ...command(generation), keepOlder: true })
const refusedAsAbsent = expect.objectContaining({ code: 'not_found' })

test('the undo of a start leaves the former disk that could not be captured', async () => {
  await dock().start(startCommand())
  host.disks.failNext('capture', new NoSpace('full'))
  await expect(dock().start(startCommand({ generation: 2 }))).rejects.toBeInstanceOf(NoSpace)
  await expect(undo(2)).rejects.toEqual(refusedAsAbsent)
  expect((await host.residue()).disks).toEqual([dockId])
  expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1, state: 'stopped' }])
  await dock().destroy(command(2))
  expect((await host.residue()).disks).toEqual([])
})

test('the undo of a start that never came leaves what runs in an older generation', async () => {
  await dock().start(startCommand())
  await expect(undo(2)).rejects.toEqual(refusedAsAbsent)
  expect((await host.residue()).sandboxes).toEqual([`${dockId}/1`])
})

test('the undo of a boot from the Dock’s own disk leaves the disk', async () => {
  await dock().start(startCommand())
  await dock().start(startCommand({ generation: 2, source: { kind: 'own' } }))
  await expect(undo(2)).rejects.toEqual(refusedAsAbsent)
  expect((await host.residue()).disks).toEqual([dockId])
})

test('the undo of a start removes what this start made, and fences late commands', async () => {
  await dock().start(startCommand())
  await dock().start(startCommand({ generation: 2 }))
  await undo(2)
  expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
  expect(await capturesOf()).toHaveLength(1)
  await expect(dock().start(startCommand({ generation: 2 }))).rejects.toMatchObject({
    code: 'stale_generation',
  })
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

/** Makes the Dock's record one that the next agent cannot read. */
const spoilRecord = async (spoil: (contents: string) => string) => {
  const path = join(host.handlesFolder, `${dockId}.json`)
  await writeFile(path, spoil(await readFile(path, 'utf8')))
  host.agent = await host.startAgent()
}
const ofLaterVersion = (contents: string) => JSON.stringify({ ...JSON.parse(contents), version: 2 })
const half = (contents: string) => contents.slice(0, contents.length / 2)

describe.each([
  ['is of a later version', ofLaterVersion],
  ['is cut in half', half],
])('a Dock whose record %s', (_, spoil) => {
  const organizationId = newUuid()
  const made = startCommand({ generation: 3, organizationId })
  beforeEach(async () => {
    await dock().start(made)
    await spoilRecord(spoil)
  })

  test('runs on, untouched', async () => {
    const { sandboxes, networks, disks } = await host.residue()
    expect({ sandboxes, networks, disks }).toEqual({
      ...{ sandboxes: [`${dockId}/3`], networks: [dockId], disks: [dockId] },
    })
  })

  test('keeps its disk as a capture when the start from an image is repeated', async () => {
    await dock().start(made)
    expect(await capturesOf()).toHaveLength(1)
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/3`])
  })

  test('keeps its disk as a capture when a start from a capture follows', async () => {
    host.driver.killWithoutNotice(dockId)
    const captureId = newUuid()
    await host.disks.restoreCapture(captureId, 4096, async () => undefined)
    await dock().start(startCommand({ generation: 4, source: { kind: 'capture', captureId } }))
    expect(await capturesOf()).toHaveLength(2)
  })

  test('keeps its disk however often it cannot be captured', async () => {
    for (const _ of [1, 2]) {
      host.disks.failNext('capture', new NoSpace('full'))
      await expect(dock().start(startCommand({ generation: 4 }))).rejects.toBeInstanceOf(NoSpace)
      expect((await host.residue()).disks).toEqual([dockId])
    }
    await dock().start(startCommand({ generation: 4 }))
    expect(await capturesOf()).toHaveLength(1)
  })

  test('runs on when a stop finds no room for the capture', async () => {
    const { room } = host.disks
    host.disks.room = () => ({ ...room(), freeBytes: 0 })
    await expect(dock().stop({ ...command(3), captureId: newUuid() })).rejects.toBeInstanceOf(NoSpace)
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/3`])
    host.disks.room = room
    await dock().stop({ ...command(3), captureId: newUuid() })
    expect(await capturesOf()).toHaveLength(1)
  })

  test('keeps its disk when the agent ends while that is captured', async () => {
    for (const order of [
      () => dock().start(startCommand({ generation: 4 })),
      () => dock().stop({ ...command(4), captureId: newUuid() }),
    ]) {
      const reached = host.disks.hangNext('capture')
      order().catch(() => undefined)
      await reached
      host.agent = await host.startAgent()
      expect((await host.residue()).disks).toEqual([dockId])
    }
    await dock().start(startCommand({ generation: 4 }))
    expect(await capturesOf()).toHaveLength(1)
  })

  test('notes beside the capture whose disk it is', async () => {
    await dock().start(startCommand({ generation: 4, organizationId }))
    const [captureId] = await capturesOf()
    const answer = await host.agent.app.request(`/captures/${captureId}/note`)
    expect(await answer.json()).toMatchObject({ dock: { dockId, organizationId, hostname: 'dock-one' } })
  })

  test('boots from its own disk, and never has two sandboxes on it', async () => {
    await dock().start(startCommand({ generation: 4, source: { kind: 'own' } }))
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/4`])
    expect(await capturesOf()).toEqual([])
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 4, state: 'running' }])
  })

  test('leaves nothing but the capture at a stop', async () => {
    const captureId = newUuid()
    const stop = { ...command(3), captureId }
    expect(await dock().stop(stop)).toMatchObject({ capture: { sizeBytes: 4096 } })
    await expect.poll(() => host.residue()).toMatchObject({ sandboxes: [], networks: [], disks: [] })
    expect(await capturesOf()).toEqual([captureId])
    expect(host.agent.docks.reports()).toEqual([])
  })

  test('keeps its disk at a stop without a capture, and as one that was used', async () => {
    await dock().stop({ ...command(3), captureId: null })
    expect(await host.residue()).toMatchObject({ sandboxes: [], networks: [], disks: [dockId] })
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 3, state: 'stopped' }])
    await dock().start(startCommand({ generation: 4 }))
    expect(await capturesOf()).toHaveLength(1)
  })

  test('keeps its disk when a failed start is undone', async () => {
    host.disks.failNext('capture', new NoSpace('full'))
    await expect(dock().start(startCommand({ generation: 4 }))).rejects.toBeInstanceOf(NoSpace)
    await expect(undo(4)).rejects.toEqual(refusedAsAbsent)
    expect((await host.residue()).disks).toEqual([dockId])
  })

  test('is gone after an order to destroy it', async () => {
    await dock().destroy(command(3))
    expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
    expect(await capturesOf()).toEqual([])
  })

  test('keeps its disk when the host is shut down', async () => {
    await host.agent.shutdown()
    expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [dockId], attached: [] })
  })
})

test('a legible generation of an unreadable record is reported, and fences older commands', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await spoilRecord(ofLaterVersion)
  expect(host.agent.docks.reports()).toEqual([{ dockId, generation: 3, state: 'stopped', ip: null }])
  await expect(dock().destroy(command(2))).rejects.toMatchObject({ code: 'stale_generation' })
  await expect(dock().start(startCommand({ generation: 2 }))).rejects.toMatchObject({
    code: 'stale_generation',
  })
  expect((await host.residue()).disks).toEqual([dockId])
})

test('an unreadable record without a disk, or without a legible generation, is not reported', async () => {
  await dock().start(startCommand())
  await spoilRecord(half)
  expect(host.agent.docks.reports()).toEqual([])
  await dock().destroy(command(2))
  await spoilRecord(ofLaterVersion)
  expect(host.agent.docks.reports()).toEqual([])
})

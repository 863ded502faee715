/** The folder of records is lost, or an older copy of it was put back. Disks that Docks have used must stay. */
import { cp, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { newOperationId, newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

const nothing = { sandboxes: [], networks: [], disks: [], attached: [] }
let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
})
afterEach(() => host.remove())

const dock = () => host.agent.docks.getForCommand(dockId)
const command = (generation = 1) => ({ operationId: newOperationId(), generation })
const capturesOf = async () => (await host.disks.list()).captures

const copyRecords = () => cp(host.handlesFolder, `${host.handlesFolder}.copy`, { recursive: true })
/** Moves the records away in one step, because the agent before may still be writing one. */
const takeRecordsAway = () => rename(host.handlesFolder, `${host.handlesFolder}.lost`)
const loseRecords = async () => {
  await takeRecordsAway()
  host.agent = await host.startAgent()
}
const putBackCopy = async () => {
  await takeRecordsAway()
  await cp(`${host.handlesFolder}.copy`, host.handlesFolder, { recursive: true })
  host.agent = await host.startAgent()
}
/** Expects that the disk is here and that the agent reports it without a generation. */
const expectKept = async () => {
  expect((await host.residue()).disks).toEqual([dockId])
  expect(host.agent.docks.unidentified()).toEqual([dockId])
  expect(host.agent.docks.reports()).toEqual([])
  expect(host.agent.docks.listWarmSandboxes()).toEqual([])
}

test('without records, Docks are left as they are', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await loseRecords()
  await expectKept()
  expect((await host.residue()).sandboxes).toEqual([`${dockId}/3`])
})

test('a Dock without a record boots from its own disk, and never has two sandboxes', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await loseRecords()
  await dock().start(startCommand({ generation: 4, source: { kind: 'own' } }))
  expect((await host.residue()).sandboxes).toEqual([`${dockId}/4`])
  expect(host.agent.docks.unidentified()).toEqual([])
  expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 4, state: 'running' }])
})

test('a stop turns the disk of a Dock without a record into a capture', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await loseRecords()
  const captureId = newUuid()
  expect((await dock().stop({ ...command(), captureId })).capture).not.toBeNull()
  await expect.poll(() => host.residue()).toEqual(nothing)
  expect(await capturesOf()).toEqual([captureId])
  expect(host.agent.docks.unidentified()).toEqual([])
})

test('a start from an image keeps the disk of a Dock without a record as a capture', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await loseRecords()
  await dock().start(startCommand({ generation: 4 }))
  expect(await capturesOf()).toHaveLength(1)
})

test('a Dock that a host without records was ordered to destroy is gone', async () => {
  await dock().start(startCommand({ generation: 3 }))
  await loseRecords()
  await dock().destroy(command(3))
  expect(await host.residue()).toEqual(nothing)
})

test('an older copy knows nothing of a Dock that started since', async () => {
  await copyRecords()
  await dock().start(startCommand())
  await putBackCopy()
  await expectKept()
})

test('an older copy takes a Dock for gone that booted again since', async () => {
  await dock().start(startCommand())
  const captureId = newUuid()
  await dock().stop({ ...command(), captureId })
  await expect.poll(() => host.residue()).toEqual(nothing)
  await copyRecords()
  await dock().start(startCommand({ generation: 2, source: { kind: 'capture', captureId } }))
  await putBackCopy()
  await expectKept()
})

test('an older copy takes a Dock for a start that is incomplete', async () => {
  const letGo = host.driver.hold('start')
  const started = dock().start(startCommand())
  await expect.poll(async () => (await host.residue()).attached).toEqual([dockId])
  await copyRecords()
  letGo()
  await started
  await putBackCopy()
  await expectKept()
})

test('an older copy takes a Dock for a sandbox of the warm pool', async () => {
  const kind = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 }
  await host.agent.docks.bootForWarmPool(dockId, kind, 'dock-one')
  await copyRecords()
  await dock().start(startCommand({ newIdentity: false }))
  expect(host.driver.started).toHaveLength(1)
  await putBackCopy()
  await expectKept()
})

test('a disk that no Dock has used goes without a record', async () => {
  const reached = host.disks.hangNext('attach')
  dock()
    .start(startCommand())
    .catch(() => undefined)
  await reached
  await loseRecords()
  expect(await host.residue()).toEqual(nothing)
  expect(host.agent.docks.unidentified()).toEqual([])
})

test('a disk whose capture was returned goes without a record', async () => {
  await dock().start(startCommand())
  host.driver.hold('destroy')
  await dock().stop({ ...command(), captureId: newUuid() })
  host.driver.hold('destroy')()
  await loseRecords()
  expect(await host.residue()).toEqual(nothing)
})

test('an agent that ends between record and mark of a start leaves a used disk', async () => {
  const reached = host.disks.hangNext('markNeeded')
  dock()
    .start(startCommand())
    .catch(() => undefined)
  await reached
  const readPhase = async () =>
    (JSON.parse(await readFile(join(host.handlesFolder, `${dockId}.json`), 'utf8')) as { phase: string })
      .phase
  await expect.poll(readPhase).toBe('running')
  host.agent = await host.startAgent()
  expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1, state: 'running' }])
  await loseRecords()
  await expectKept()
})

/** Claims of warm sandboxes that break off. No disk may be left in use while its mark says that nobody needs it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
  const kind = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 }
  await host.agent.docks.bootForWarmPool(dockId, kind, 'dock-one')
})
afterEach(() => host.remove())

const dock = () => host.agent.docks.getForCommand(dockId)
const claim = startCommand({ newIdentity: false })
const readRecord = async () =>
  JSON.parse(await readFile(join(host.handlesFolder, `${dockId}.json`), 'utf8')) as {
    phase: string
    generation: number
  }

test('a start whose claim and boot failed boots when it is repeated', async () => {
  host.driver.failNext('thaw', new Error('it stays frozen'))
  host.driver.failNext('destroy', new Error('it does not end'))
  await expect(dock().start(claim)).rejects.toThrow('it does not end')
  await dock().start(claim)
  expect(host.driver.started).toHaveLength(2)
  expect(await host.disks.isUnneeded(dockId)).toBe(false)
})

test('after such a failure the next agent leaves nothing', async () => {
  host.driver.failNext('thaw', new Error('it stays frozen'))
  host.driver.failNext('destroy', new Error('it does not end'))
  await expect(dock().start(claim)).rejects.toThrow('it does not end')
  host.agent = await host.startAgent()
  expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
})

test('an agent that ends during a claim leaves no disk, because nobody has used it', async () => {
  host.driver.hold('execEnd')
  dock()
    .start({ ...claim, hostname: 'dock-two' })
    .catch(() => undefined)
  await expect.poll(readRecord).toMatchObject({ phase: 'starting', generation: 1 })
  await expect.poll(() => host.driver.renamed).toHaveLength(1)
  host.driver.hold('execEnd')()
  host.agent = await host.startAgent()
  expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
  expect(host.agent.docks.unidentified()).toEqual([])
})

test('a claim that fails sets the mark again only after it has been removed', async () => {
  const { markNeeded, markUnneeded } = host.disks
  const done: string[] = []
  host.disks.markNeeded = async (id) => {
    // The thaw has failed when the next round of the event loop begins.
    await setImmediate()
    await markNeeded(id)
    done.push('needed')
  }
  host.disks.markUnneeded = async (id) => {
    await markUnneeded(id)
    done.push('unneeded')
  }
  host.driver.failNext('thaw', new Error('it stays frozen'))
  await dock().start(claim)
  expect(done).toEqual(['needed', 'unneeded', 'needed'])
  expect((await host.disks.list()).captures).toEqual([])
})

import { newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NoSpace } from '../disks/pool.ts'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
let endWatch: () => void
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
  endWatch = host.agent.watch()
})
afterEach(async () => {
  endWatch()
  await host.remove()
})

const dock = () => host.agent.docks.getForCommand(dockId)
const exec = () =>
  dock().exec({
    ...{ generation: 1, command: 'true', cwd: '/home/user', env: {}, timeoutMs: 1000 },
    outputLimitBytes: 1024,
  })
const isFrozen = () => host.driver.frozen.has(dockId)

describe('an idle Dock', () => {
  test('is frozen soon if it was never used, and a command thaws it', async () => {
    await dock().start(startCommand())
    await host.clock.advanceInSteps(400)
    expect(isFrozen()).toBe(false)
    await host.clock.advanceInSteps(1_100)
    await expect.poll(isFrozen).toBe(true)
    expect(await exec()).toHaveProperty('exitCode', 0)
    expect(isFrozen()).toBe(false)
  })

  test('is frozen some seconds after its last command', async () => {
    await dock().start(startCommand())
    await exec()
    await host.clock.advanceInSteps(4_400)
    expect(isFrozen()).toBe(false)
    await host.clock.advanceInSteps(1_500)
    await expect.poll(isFrozen).toBe(true)
  })

  test('is frozen at once while others boot', async () => {
    await dock().start(startCommand())
    await exec()
    const release = host.driver.hold('start')
    const other = host.agent.docks.getForCommand(newUuid()).start(startCommand())
    await host.clock.advanceInSteps(1_000)
    await expect.poll(isFrozen).toBe(true)
    release()
    await other
    expect(await exec()).toHaveProperty('exitCode', 0)
  })

  test.each(['node', 'cron'])('is not idle while %s runs in it', async (name) => {
    await dock().start(startCommand())
    host.driver.setProcesses(dockId, [name])
    await host.clock.advanceInSteps(20_000)
    expect(isFrozen()).toBe(false)
    host.driver.setProcesses(dockId, [])
    await expect.poll(() => host.clock.advanceInSteps(500).then(isFrozen)).toBe(true)
  })

  test('is not frozen while it is in use, nor by a check that began before the use', async () => {
    await dock().start(startCommand())
    const use = await dock().use(1)
    await host.clock.advanceInSteps(20_000)
    expect(isFrozen()).toBe(false)
    use.release()
    const release = host.driver.hold('processes')
    await host.clock.advanceInSteps(5_500)
    const later = await dock().use(1)
    release()
    await host.clock.advanceInSteps(400)
    expect(isFrozen()).toBe(false)
    later.release()
  })

  test('that could not be frozen is retried after a while', async () => {
    await dock().start(startCommand())
    host.driver.failNext('freeze', new Error('no cgroup'))
    await host.clock.advanceInSteps(4_000)
    expect(isFrozen()).toBe(false)
    await expect.poll(() => host.clock.advanceInSteps(500).then(isFrozen)).toBe(true)
  })

  test('stops, is captured and is destroyed like any other', async () => {
    await dock().start(startCommand())
    await host.clock.advanceInSteps(2_000)
    await expect.poll(isFrozen).toBe(true)
    const order = { operationId: 'op_1', generation: 1 }
    await dock().capture({ ...order, captureId: newUuid() })
    expect(isFrozen()).toBe(true)
    await dock().stop({ ...order, operationId: 'op_2', captureId: newUuid() })
    await expect.poll(async () => (await host.residue()).sandboxes).toEqual([])
    expect(host.driver.executed.at(-1)?.argv.at(-1)).toContain('sync')
  })

  test('is thawed when the next agent adopts it, and frozen again', async () => {
    await dock().start(startCommand())
    await host.clock.advanceInSteps(2_000)
    await expect.poll(isFrozen).toBe(true)
    endWatch()
    host.agent = await host.startAgent()
    await expect.poll(isFrozen).toBe(false)
    endWatch = host.agent.watch()
    await host.clock.advanceInSteps(2_000)
    await expect.poll(isFrozen).toBe(true)
  })
})

describe('the pool guard', () => {
  const { reserveBytes } = { reserveBytes: 5 * 1024 ** 3 }

  test('refuses creates and captures at twice the reserve; a Dock whose stop is refused runs on', async () => {
    await dock().start(startCommand())
    host.disks.setFree(2 * reserveBytes - 1)
    await host.clock.advanceInSteps(100)
    await expect(host.agent.docks.getForCommand(newUuid()).start(startCommand())).rejects.toThrow(NoSpace)
    const order = { operationId: 'op_1', generation: 1, captureId: newUuid() }
    await expect(dock().capture(order)).rejects.toThrow(NoSpace)
    await expect(dock().stop(order)).rejects.toThrow(NoSpace)
    expect(await exec()).toHaveProperty('exitCode', 0)
  })

  test('freezes every Dock at the reserve, refuses commands for them, and thaws them', async () => {
    await dock().start(startCommand())
    await exec()
    host.disks.setFree(reserveBytes)
    await host.clock.advanceInSteps(100)
    await expect.poll(isFrozen).toBe(true)
    await expect(exec()).rejects.toMatchObject({ code: 'frozen' })
    const own = startCommand({ generation: 2, source: { kind: 'own' } })
    await expect(dock().start(own)).rejects.toThrow(NoSpace)
    host.disks.setFree(reserveBytes * 1.1)
    await host.clock.advanceInSteps(100)
    expect(isFrozen()).toBe(true)
    host.disks.setFree(reserveBytes * 2)
    await host.clock.advanceInSteps(100)
    await expect.poll(isFrozen).toBe(false)
    expect(await exec()).toHaveProperty('exitCode', 0)
  })

  test('keeps a read-only pool frozen until it has room, and then asks for another agent', async () => {
    await dock().start(startCommand())
    await exec()
    host.disks.makeReadOnly()
    host.disks.setFree(0)
    let isAskedFor = false
    void host.agent.poolIsReadOnly.then(() => {
      isAskedFor = true
    })
    await host.clock.advanceInSteps(100)
    await expect.poll(isFrozen).toBe(true)
    expect(isAskedFor).toBe(false)
    host.disks.setFree(reserveBytes * 2)
    await host.clock.advanceInSteps(100)
    await host.agent.poolIsReadOnly
    expect(isFrozen()).toBe(true)

    const next = await host.startAgent()
    expect(next.docks.reports()).toEqual([expect.objectContaining({ dockId, state: 'dead' })])
    expect(await host.residue()).toMatchObject({ sandboxes: [], attached: [], disks: [dockId] })
  })

  test('lets a Dock be destroyed, which frees space', async () => {
    await dock().start(startCommand())
    host.disks.setFree(0)
    await host.clock.advanceInSteps(100)
    await dock().destroy({ operationId: 'op_1', generation: 1 })
    expect(await host.residue()).toMatchObject({ sandboxes: [], disks: [] })
  })

  test('is active before the next agent thaws any Dock', async () => {
    await dock().start(startCommand())
    host.disks.setFree(reserveBytes)
    await host.clock.advanceInSteps(100)
    await expect.poll(isFrozen).toBe(true)
    endWatch()
    const thaw = host.driver.hold('thaw')
    host.agent = await host.startAgent()
    expect(isFrozen()).toBe(true)
    await expect(host.agent.docks.getForCommand(dockId).use(1)).rejects.toMatchObject({ code: 'frozen' })
    thaw()
  })
})

describe('samples', () => {
  const samples = () => {
    const sent: unknown[] = []
    return {
      sent,
      end: host.agent.events.listen((event) => event.type === 'samples' && sent.push(...event.samples)),
    }
  }

  test('report what a Dock used since the last sample, frozen or not; the warm pool has none', async () => {
    await dock().start(startCommand())
    host.agent.warmPool.keep({ image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 })
    const { sent } = samples()
    host.driver.setUsage(dockId, { cpuUsec: 1_000_000, memoryBytes: 7 })
    await host.clock.advanceInSteps(10_000)
    await expect.poll(() => sent.length).toBe(1)
    host.driver.setUsage(dockId, { cpuUsec: 6_000_000, memoryBytes: 8 })
    await host.clock.advanceInSteps(10_000)
    await expect.poll(() => sent.length).toBe(2)
    expect(sent).toMatchObject([
      { dockId, generation: 1, cpuPercent: 0, memBytes: 7, memLimit: 512 * 1024 ** 2, rxBytes: 100 },
      { dockId, cpuPercent: 50, memBytes: 8, diskBytes: 1024, diskLimit: 2 * 1024 ** 3, txBytes: 200 },
    ])
  })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUuid } from '@dock/foundation'
import type { HostEvent, StartDock } from '@dock/host-protocol'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const kind = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 }
let host: Awaited<ReturnType<typeof createMemoryHost>>
let endWatch: () => void
let told: HostEvent[]
beforeEach(async () => {
  host = await createMemoryHost()
  begin()
})
afterEach(async () => {
  endWatch()
  await host.remove()
})

const begin = () => {
  told = []
  host.agent.events.listen((event) => told.push(event))
  endWatch = host.agent.watch()
}
const warmSandboxes = () => host.agent.warmPool.reports()
const filled = async () => {
  host.agent.warmPool.keep(kind)
  await expect.poll(() => warmSandboxes().length).toBe(2)
  return warmSandboxes()[0]!
}
const claim = (dockId: string, hostname: string, change: Partial<StartDock> = {}) =>
  host.agent.docks.getForCommand(dockId).start(startCommand({ hostname, newIdentity: false, ...change }))

describe('the warm pool', () => {
  test('is filled with frozen sandboxes that are announced at once and are not in the inventory of Docks', async () => {
    await filled()
    expect(host.agent.docks.reports()).toEqual([])
    expect(host.driver.frozen.size).toBe(2)
    const warmedBy = host.driver.executed.map(({ uid, argv }) => `${argv[0]} as ${uid}`)
    const each = ['/bin/bash as 1000', '/bin/tar as 0']
    expect(warmedBy.toSorted()).toEqual([...each, ...each].toSorted())
    expect(warmSandboxes()[0]).toEqual({
      ...{ ...kind, dockId: expect.any(String), ip: expect.any(String) },
      hostname: expect.stringMatching(/^[a-z]+-[a-z]+$/),
    })
    expect(told.map((event) => event.type)).toEqual(['pool.ready', 'pool.ready'])
  })

  test('pauses while a Dock boots, and for its first command', async () => {
    const release = host.driver.hold('start')
    const start = host.agent.docks.getForCommand(newUuid()).start(startCommand())
    await expect.poll(async () => (await host.residue()).attached.length).toBe(1)
    host.agent.warmPool.keep(kind)
    await host.clock.advanceInSteps(5_000)
    expect((await host.disks.list()).disks).toHaveLength(1)
    release()
    await start
    await host.clock.advanceInSteps(99)
    expect((await host.disks.list()).disks).toHaveLength(1)
    await host.clock.advanceInSteps(1)
    await expect.poll(() => warmSandboxes().length).toBe(2)
  })

  test('still fills while Docks boot in quick succession', async () => {
    const bootMeanwhile = async (meanwhile: () => void | Promise<void>) => {
      const { attached } = await host.residue()
      const release = host.driver.hold('start')
      const start = host.agent.docks.getForCommand(newUuid()).start(startCommand())
      await expect.poll(async () => (await host.residue()).attached.length).toBe(attached.length + 1)
      await meanwhile()
      release()
      await start
    }
    await bootMeanwhile(() => host.agent.warmPool.keep(kind))
    await bootMeanwhile(() => host.clock.advanceInSteps(500))
    await expect.poll(() => warmSandboxes().length).toBe(2)
  })

  test('never delays the boot of a Dock', async () => {
    const release = host.driver.hold('start')
    host.agent.warmPool.keep(kind)
    await expect.poll(async () => (await host.residue()).attached.length).toBe(2)
    const start = host.agent.docks.getForCommand(newUuid()).start(startCommand())
    await expect.poll(async () => (await host.residue()).attached.length).toBe(3)
    release()
    await start
  })

  test('retries later when a sandbox does not boot, and removes it completely', async () => {
    host.driver.failNext('start', new Error('no boot'))
    host.driver.failNext('execEnd', new Error('no shell'))
    host.agent.warmPool.keep(kind)
    await expect.poll(async () => (await host.residue()).disks.length + warmSandboxes().length).toBe(0)
    await expect
      .poll(async () => {
        await host.clock.advanceInSteps(1_000)
        return warmSandboxes().length
      })
      .toBe(2)
    expect((await host.residue()).sandboxes).toHaveLength(2)
  })

  test('is replaced when another kind is ordered, and emptied when none is', async () => {
    await filled()
    host.agent.warmPool.keep({ ...kind, cpus: 2 })
    await expect.poll(() => warmSandboxes().map(({ cpus }) => cpus)).toEqual([2, 2])
    host.agent.warmPool.keep(null)
    await expect.poll(() => host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
    expect(told.filter((event) => event.type === 'pool.gone')).toHaveLength(4)
  })

  test('is replaced when its image has a new version', async () => {
    await filled()
    const old = warmSandboxes().map(({ dockId }) => dockId)
    host.disks.setImage('debian-13', 'sha256:new')
    await host.clock.advanceInSteps(3_000)
    await expect.poll(() => warmSandboxes().length).toBe(2)
    expect(warmSandboxes().filter(({ dockId }) => old.includes(dockId))).toEqual([])
    await expect.poll(async () => (await host.residue()).disks.length).toBe(2)
    expect(told.filter((event) => event.type === 'pool.gone').map(({ dockId }) => dockId)).toEqual(old)
  })

  test('discards a sandbox whose image was replaced while it booted', async () => {
    const release = host.driver.hold('start')
    host.agent.warmPool.keep(kind)
    await expect.poll(async () => (await host.residue()).attached.length).toBe(2)
    const old = (await host.residue()).disks
    host.disks.setImage('debian-13', 'sha256:new')
    release()
    await expect
      .poll(async () => {
        await host.clock.advanceInSteps(200)
        return warmSandboxes().filter(({ dockId }) => !old.includes(dockId)).length
      })
      .toBe(2)
    expect(warmSandboxes()).toHaveLength(2)
  })

  test('shrinks one by one while disk space is scarce', async () => {
    await filled()
    host.disks.setFree(9 * 1024 ** 3)
    await host.clock.advanceInSteps(1_100)
    expect(warmSandboxes()).toHaveLength(1)
    await host.clock.advanceInSteps(1_000)
    await expect.poll(async () => (await host.residue()).sandboxes).toEqual([])
    host.disks.setFree(90 * 1024 ** 3)
    await host.clock.advanceInSteps(1_000)
    await expect.poll(() => warmSandboxes().length).toBe(2)
  })

  test('reports a sandbox that dies, and fills again', async () => {
    const { dockId } = await filled()
    host.driver.kill(dockId)
    await expect.poll(() => told).toContainEqual({ type: 'pool.gone', dockId })
    await expect.poll(() => warmSandboxes().length).toBe(2)
    expect((await host.residue()).disks).not.toContain(dockId)
    expect(told).not.toContainEqual(expect.objectContaining({ type: 'dock.died' }))
  })

  test('holds a few of a second kind', async () => {
    await host.remove()
    host = await createMemoryHost({ warmPoolSize: 4 })
    begin()
    const second = { ...kind, cpus: 2 }
    const cpus = () =>
      warmSandboxes()
        .map((each) => each.cpus)
        .toSorted()
    host.agent.warmPool.keep(kind, second)
    await expect
      .poll(async () => {
        await host.clock.advanceInSteps(100)
        return cpus()
      })
      .toEqual([1, 1, 1, 2])
    host.agent.warmPool.keep(kind, second)
    expect(cpus()).toEqual([1, 1, 1, 2])
    const { dockId, hostname } = warmSandboxes().find((each) => each.cpus === 2)!
    await claim(dockId, hostname, { cpus: 2 })
    await expect
      .poll(async () => {
        await host.clock.advanceInSteps(100)
        return cpus()
      })
      .toEqual([1, 1, 1, 2])
    host.agent.warmPool.keep(kind)
    await expect
      .poll(async () => {
        await host.clock.advanceInSteps(100)
        return cpus()
      })
      .toEqual([1, 1, 1, 1])
  })
})

describe('a claim', () => {
  test('only thaws: nothing boots, nothing runs inside, and repeating it returns the same result', async () => {
    const { dockId, hostname, ip } = await filled()
    const ran = host.driver.executed.length
    const once = startCommand({ hostname, newIdentity: false })
    const dock = host.agent.docks.getForCommand(dockId)
    expect(await dock.start(once)).toEqual({ ip })
    expect(await dock.start(once)).toEqual({ ip })
    expect(host.driver.started.filter((spec) => spec.dockId === dockId)).toHaveLength(1)
    expect(host.driver.frozen.has(dockId)).toBe(false)
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1, state: 'running', ip }])
    await expect.poll(() => warmSandboxes().length).toBe(2)
    // A login shell ran in the sandbox that replaced it, but not in this one.
    expect(host.driver.executed).toHaveLength(ran + 2)
  })

  test('pauses the warm pool for its first commands, while most of it is ready', async () => {
    await host.remove()
    host = await createMemoryHost({ warmPoolSize: 4 })
    begin()
    host.agent.warmPool.keep(kind)
    await expect.poll(() => warmSandboxes().length).toBe(4)
    const booted = host.driver.started.length
    const [first, second] = warmSandboxes()
    await claim(first!.dockId, first!.hostname)
    await host.clock.advanceInSteps(300)
    expect(host.driver.started).toHaveLength(booted)
    // Half of the warm pool is not enough for the next creates.
    await claim(second!.dockId, second!.hostname)
    await expect.poll(() => host.driver.started.length).toBeGreaterThan(booted)
    await host.clock.advanceInSteps(400)
    await expect.poll(() => warmSandboxes().length).toBe(4)
  })

  test('makes room for another sandbox, and is not announced as a loss', async () => {
    const { dockId, hostname } = await filled()
    await claim(dockId, hostname)
    await expect.poll(() => warmSandboxes().length).toBe(2)
    expect(told).not.toContainEqual({ type: 'pool.gone', dockId })
    expect((await host.residue()).sandboxes).toHaveLength(3)
  })

  test('with another host name and variables needs one more command, and passes them in no arguments', async () => {
    const { dockId } = await filled()
    const ran = host.driver.executed.length
    await claim(dockId, 'my-own', { env: { TOKEN: "it's secret" } })
    // The next sandbox of the warm pool may already run its waiting tar and its first login shell.
    const isOfClaim = ({ uid, argv }: { uid: number; argv: readonly string[] }) =>
      uid === 0 && argv[0] !== '/bin/tar'
    const [renaming, ...more] = host.driver.executed.slice(ran).filter(isOfClaim)
    expect(more).toEqual([])
    expect(host.driver.renamed.get(dockId)).toBe('my-own')
    expect(renaming).toMatchObject({ uid: 0, env: { DOCK_HOSTNAME: 'my-own' } })
    const waiting = host.driver.executed.filter(({ argv }) => argv[0] === '/bin/tar')
    const given = await Promise.race(waiting.map(({ input }) => input))
    expect(String(given)).toContain(`[ -n "\${TOKEN+x}" ] || export TOKEN='it'\\''s secret'\n`)
    expect(JSON.stringify(waiting.map(({ argv }) => argv))).not.toContain('secret')
    expect(JSON.stringify(host.agent.docks.find(dockId)?.record)).not.toContain('secret')
  })

  test('with only a host name ignores how the waiting tar ends', async () => {
    const { dockId } = await filled()
    host.driver.failNext('execEnd', new Error('no tar'), { dockId, program: '/bin/tar' })
    await claim(dockId, 'my-own')
    expect(host.driver.renamed.get(dockId)).toBe('my-own')
    expect((await host.residue()).sandboxes).toContain(`${dockId}/0`)
  })

  test.each<[string, Partial<StartDock>]>([
    ['another size', { memoryMiB: 1024 }],
    ['a capture', { source: { kind: 'capture', captureId: '5e3c9f8e-8f0f-4f7a-9a3b-0d7c7b7d7a01' } }],
  ])('of %s boots what was ordered in its place', async (_, change) => {
    await host.disks.create('older', { from: { image: 'debian-13' }, diskGiB: 2 })
    await host.disks.capture('older', '5e3c9f8e-8f0f-4f7a-9a3b-0d7c7b7d7a01')
    const { dockId, hostname } = await filled()
    await claim(dockId, hostname, change)
    expect((await host.residue()).sandboxes).toContain(`${dockId}/1`)
    expect((await host.residue()).sandboxes).not.toContain(`${dockId}/0`)
    expect(host.driver.frozen.has(dockId)).toBe(false)
  })

  test('boots another sandbox if the warm one does not accept its variables, and never offers that one again', async () => {
    const { dockId, hostname } = await filled()
    host.driver.failNext('execEnd', new Error('no tar'), { dockId, program: '/bin/tar' })
    await claim(dockId, hostname, { env: { A: 'b' } })
    expect((await host.residue()).sandboxes).toContain(`${dockId}/1`)
    expect(warmSandboxes().map((report) => report.dockId)).not.toContain(dockId)
  })

  test('boots another sandbox if the warm one has an earlier release of the runtime', async () => {
    const { dockId, hostname } = await filled()
    host.driver.outdate(dockId)
    await claim(dockId, hostname)
    expect((await host.residue()).sandboxes).toContain(`${dockId}/1`)
    expect(host.driver.started.filter((spec) => spec.dockId === dockId)).toHaveLength(2)
  })

  test('boots another sandbox if its image has a new version, even before the warm pool has noticed', async () => {
    const { dockId, hostname } = await filled()
    host.disks.setImage('debian-13', 'sha256:new')
    await claim(dockId, hostname)
    expect((await host.residue()).sandboxes).toContain(`${dockId}/1`)
    expect(host.driver.started.filter((spec) => spec.dockId === dockId)).toHaveLength(2)
  })

  test('of an id that the warm pool has discarded is an ordinary boot', async () => {
    const { dockId, hostname } = await filled()
    host.agent.warmPool.keep(null)
    const ip = await claim(dockId, hostname)
    expect(ip).toHaveProperty('ip')
    await expect.poll(async () => (await host.residue()).sandboxes).toEqual([`${dockId}/1`])
    expect(await claim(dockId, hostname, { operationId: 'op_other' }).catch(({ code }) => code)).toBe('busy')
  })

  test('that was undone leaves nothing, and the warm pool announces the loss', async () => {
    const { dockId } = await filled()
    await host.agent.docks.getForCommand(dockId).destroy({ operationId: 'op_1', generation: 1 })
    expect(told).toContainEqual({ type: 'pool.gone', dockId })
    expect((await host.residue()).sandboxes).not.toContain(`${dockId}/0`)
  })

  test('results in a Dock that lives, dies and boots again like any other', async () => {
    const { dockId, hostname } = await filled()
    await claim(dockId, hostname)
    host.driver.kill(dockId)
    await expect.poll(() => told).toContainEqual({ type: 'dock.died', dockId, generation: 1 })
    await claim(dockId, hostname, { generation: 2, source: { kind: 'own' } })
    expect((await host.residue()).sandboxes).toContain(`${dockId}/2`)
  })
})

describe('the next agent', () => {
  const follow = async (bootId?: string) => {
    endWatch()
    host.agent = await host.startAgent(bootId)
    begin()
  }

  test('continues the warm pool: sandboxes stay frozen and can be claimed', async () => {
    const { dockId, hostname } = await filled()
    await follow()
    expect(warmSandboxes().map((report) => report.dockId)).toContain(dockId)
    expect(host.driver.frozen.size).toBe(2)
    await claim(dockId, hostname)
    expect(host.driver.started.filter((spec) => spec.dockId === dockId)).toHaveLength(1)
    expect(host.driver.frozen.has(dockId)).toBe(false)
  })

  test('discards sandboxes on an earlier release of the runtime', async () => {
    const { dockId } = await filled()
    host.driver.outdate(dockId)
    await follow()
    expect(warmSandboxes().map((report) => report.dockId)).not.toContain(dockId)
    expect((await host.residue()).sandboxes).not.toContain(`${dockId}/0`)
    expect(warmSandboxes()).toHaveLength(1)
  })

  test('discards sandboxes of an older version of the image, such as after an upgrade of Dock', async () => {
    const { dockId } = await filled()
    endWatch()
    host.disks.setImage('debian-13', 'built:newer')
    await follow()
    await expect.poll(() => warmSandboxes().map((report) => report.dockId)).not.toContain(dockId)
    await expect.poll(async () => (await host.residue()).sandboxes).not.toContain(`${dockId}/0`)
  })

  test('keeps what was claimed as a Dock', async () => {
    const { dockId, hostname } = await filled()
    await claim(dockId, hostname)
    await follow()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, generation: 1, state: 'running' }])
    expect(warmSandboxes().map((report) => report.dockId)).not.toContain(dockId)
  })

  test('removes a sandbox whose claim was interrupted and that may have incomplete variables', async () => {
    const { dockId, hostname } = await filled()
    endWatch()
    host.driver.hold('execEnd')
    claim(dockId, hostname, { env: { A: 'b' } }).catch(() => undefined)
    await expect
      .poll(() => readFile(join(host.handlesFolder, `${dockId}.json`), 'utf8'))
      .toContain('starting')
    await follow()
    expect((await host.residue()).sandboxes).toHaveLength(1)
    expect(warmSandboxes()).toHaveLength(1)
  })

  test('finds no warm sandbox after a reboot', async () => {
    const reports = [await filled(), ...warmSandboxes()]
    for (const { dockId } of reports) host.driver.killWithoutNotice(dockId)
    await follow('boot-2')
    expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
    expect(host.agent.docks.reports()).toEqual([])
  })

  test('finds no warm sandbox after a clean shutdown', async () => {
    await filled()
    await host.agent.shutdown()
    expect(await host.residue()).toEqual({ sandboxes: [], networks: [], disks: [], attached: [] })
  })
})

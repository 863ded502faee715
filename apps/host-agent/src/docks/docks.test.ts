import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newOperationId, newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NoSpace } from '../disks/pool.ts'

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
const exec = (generation = 1) => ({
  ...{ generation, command: 'true', cwd: '/home/user', env: { A: 'b' }, timeoutMs: 1000 },
  outputLimitBytes: 1024,
})
const refusal = (code: string) => expect.objectContaining({ code })

describe('start', () => {
  test('creates disk, network and sandbox, whose first process writes the identity', async () => {
    const answer = await dock().start(startCommand())
    expect(answer).toEqual({ ip: '10.0.0.1' })
    expect(await host.residue()).toEqual({
      ...{ sandboxes: [`${dockId}/1`], networks: [dockId], disks: [dockId], attached: [dockId] },
    })
    expect(host.driver.started).toHaveLength(1)
    expect(host.driver.started[0]?.prepare?.env).toMatchObject({ DOCK_HOSTNAME: 'dock-one' })
    expect(host.agent.docks.reports()).toEqual([{ dockId, generation: 1, state: 'running', ip: '10.0.0.1' }])
  })

  test('passes variables to the first process, and writes files with a command only on a used disk', async () => {
    const given = { env: { TOKEN: 'secret' }, files: [{ path: 'token', contents: 'secret' }] }
    await dock().start(startCommand(given))
    expect(host.driver.executed).toEqual([])
    await dock().stop({ ...command(), captureId: null })
    await dock().start(startCommand({ ...given, generation: 2, source: { kind: 'own' } }))
    expect(host.driver.executed.at(-1)).toMatchObject({ uid: 1000, argv: expect.arrayContaining(['token']) })
    for (const { prepare } of host.driver.started) {
      expect(String(prepare?.input)).toContain("export TOKEN='secret'\n")
      expect(JSON.stringify([prepare?.script, prepare?.env])).not.toContain('secret')
    }
    host.disks.failNext('writeEntries', new NoSpace('full'))
    dockId = newUuid()
    await expect(dock().start(startCommand(given))).rejects.toBeInstanceOf(NoSpace)
  })

  test('joins a repetition that comes during it, and returns the same result afterwards', async () => {
    const once = startCommand()
    const release = host.driver.hold('start')
    const both = Promise.all([dock().start(once), dock().start(once)])
    release()
    expect(await both).toEqual([{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }])
    expect(await dock().start(once)).toEqual({ ip: '10.0.0.1' })
    expect(host.driver.started).toHaveLength(1)
  })

  test('refuses another start of the same generation as busy, during it and afterwards', async () => {
    const release = host.driver.hold('start')
    const first = dock().start(startCommand())
    await expect(dock().start(startCommand())).rejects.toEqual(refusal('busy'))
    release()
    await first
    await expect(dock().start(startCommand())).rejects.toEqual(refusal('busy'))
  })

  test('of a newer generation ends the older sandbox: never two at once', async () => {
    await dock().start(startCommand())
    await dock().start(startCommand({ generation: 2, source: { kind: 'own' } }))
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/2`])
    await expect(dock().exec(exec(1))).rejects.toEqual(refusal('stale_generation'))
  })

  test('is refused when its generation is old, or was destroyed already', async () => {
    await dock().start(startCommand({ generation: 2 }))
    await expect(dock().start(startCommand({ generation: 1 }))).rejects.toEqual(refusal('stale_generation'))
    await dock().destroy(command(2))
    await expect(dock().start(startCommand({ generation: 2 }))).rejects.toEqual(refusal('stale_generation'))
    expect(await host.residue()).toEqual(nothing)
  })

  const failures: [string, string, () => void][] = [
    ['the disk cannot be cloned', 'NoSpace', () => host.disks.failNext('create', new NoSpace('full'))],
    ['the disk cannot be attached', 'Error', () => host.disks.failNext('attach', new Error('no loop'))],
    ['the network fails', 'Error', () => host.networks.failNext('create', new Error('no veth'))],
    ['the sandbox does not boot', 'Error', () => host.driver.failNext('start', new Error('no boot'))],
  ]
  test.each(failures)('leaves nothing when %s, and the same start succeeds later', async (_, name, arm) => {
    const once = startCommand()
    arm()
    await expect(dock().start(once)).rejects.toMatchObject({ name })
    expect(await host.residue()).toEqual(nothing)
    expect(host.agent.docks.reports()).toEqual([])
    expect(await dock().start(once)).toHaveProperty('ip')
  })

  test('keeps an existing disk when it fails', async () => {
    await dock().start(startCommand())
    await dock().stop({ ...command(), captureId: null })
    host.driver.failNext('start', new Error('no boot'))
    const again = startCommand({ generation: 2, source: { kind: 'own' } })
    await expect(dock().start(again)).rejects.toThrow('no boot')
    expect(await host.residue()).toEqual({ ...nothing, disks: [dockId] })
  })

  test('from its own disk returns not_found if there is no disk', async () => {
    const own = startCommand({ source: { kind: 'own' } })
    await expect(dock().start(own)).rejects.toEqual(refusal('not_found'))
    expect(await host.residue()).toEqual(nothing)
  })
})

describe('stop and destroy', () => {
  test('a stop leaves nothing but the capture; repeating it returns the same result', async () => {
    await dock().start(startCommand())
    const stop = { ...command(), captureId: newUuid() }
    const answer = await dock().stop(stop)
    expect(answer.capture?.sizeBytes).toBeGreaterThan(0)
    await expect.poll(() => host.residue()).toEqual(nothing)
    expect((await host.disks.list()).captures).toEqual([stop.captureId])
    expect(await dock().stop(stop)).toEqual(answer)
  })

  test('a Dock whose capture fails runs on, and stops when the stop is repeated', async () => {
    await dock().start(startCommand())
    const stop = { ...command(), captureId: newUuid() }
    host.disks.failNext('capture', new NoSpace('full'))
    await expect(dock().stop(stop)).rejects.toBeInstanceOf(NoSpace)
    expect(await dock().exec(exec())).toHaveProperty('exitCode', 0)
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'running' }])
    expect((await dock().stop(stop)).capture).not.toBeNull()
    await expect.poll(() => host.residue()).toEqual(nothing)
  })

  test('a Dock that died is captured from its disk', async () => {
    await dock().start(startCommand())
    host.driver.kill(dockId)
    await expect.poll(() => host.residue()).toEqual({ ...nothing, disks: [dockId] })
    expect((await dock().stop({ ...command(), captureId: newUuid() })).capture).not.toBeNull()
    await expect.poll(() => host.residue()).toEqual(nothing)
  })

  test('a stop returns while the sandbox is frozen; the next start waits until the sandbox is removed', async () => {
    await dock().start(startCommand())
    const release = host.driver.hold('destroy')
    const captureId = newUuid()
    await dock().stop({ ...command(), captureId })
    expect(host.driver.frozen).toContain(dockId)
    expect(host.agent.docks.reports()).toEqual([])
    const resumed = dock().start(startCommand({ generation: 2, source: { kind: 'capture', captureId } }))
    release()
    await resumed
    expect(host.driver.frozen).not.toContain(dockId)
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/2`])
  })

  test('a sandbox that cannot be frozen is ended before the capture', async () => {
    await dock().start(startCommand())
    host.driver.failNext('freeze', new Error('it goes on'))
    const hold = host.driver.hold('destroy')
    const stopped = dock().stop({ ...command(), captureId: newUuid() })
    await expect.poll(() => host.driver.executed.at(-1)?.argv).toEqual(['/bin/sync'])
    expect((await host.disks.list()).captures).toEqual([])
    hold()
    expect((await stopped).capture).not.toBeNull()
    await expect.poll(() => host.residue()).toEqual(nothing)
  })

  test('the next start of the Dock removes what a stop could not remove', async () => {
    await dock().start(startCommand())
    host.driver.failNext('destroy', new Error('it does not die'))
    const captureId = newUuid()
    await dock().stop({ ...command(), captureId })
    await dock().start(startCommand({ generation: 2, source: { kind: 'capture', captureId } }))
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/2`])
  })

  test('a stop asks processes of the user to end, and runs no command if there are none', async () => {
    const told = () =>
      host.driver.executed.flatMap(({ argv }) => (argv[0] === '/bin/bash' ? [argv.slice(4)] : []))
    await dock().start(startCommand())
    await dock().stop({ ...command(), captureId: newUuid() })
    expect(told()).toEqual([])
    await dock().start(startCommand({ generation: 2 }))
    host.driver.setProcesses(dockId, ['postgres', 'make'])
    const stopped = dock().stop({ ...command(2), captureId: newUuid() })
    await expect.poll(told).toEqual([['10', '11']])
    host.driver.setProcesses(dockId, [])
    await stopped
    expect(host.driver.executed.at(-1)?.argv).toEqual(['/bin/sync'])
  })

  test('a destroy waits for a start in progress and leaves nothing', async () => {
    const release = host.driver.hold('start')
    const start = dock().start(startCommand())
    const destroyed = dock().destroy(command())
    release()
    await start
    expect(await destroyed).toEqual({})
    expect(await host.residue()).toEqual(nothing)
    expect(await dock().destroy(command())).toEqual({})
  })

  test('an ordered end is not reported as a death', async () => {
    const deaths: unknown[] = []
    const { body } = await host.agent.app.request('/events')
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    await reader?.read()
    await dock().start(startCommand())
    await dock().stop({ ...command(), captureId: null })
    const other = newUuid()
    await host.agent.docks.getForCommand(other).start(startCommand())
    host.driver.kill(other)
    deaths.push(JSON.parse((await reader?.read())?.value ?? ''))
    await reader?.cancel()
    expect(deaths).toEqual([{ type: 'dock.died', dockId: other, generation: 1 }])
  })
})

describe('a Dock that is gone', () => {
  const ended = async () => {
    dockId = newUuid()
    await dock().start(startCommand())
    await dock().destroy(command())
    return dockId
  }
  const files = async () =>
    (await readdir(host.handlesFolder)).filter((name) => name.endsWith('.json')).length

  test('refuses late commands for a day and is then forgotten; only live Docks are iterated', async () => {
    const gone = await ended()
    dockId = newUuid()
    await dock().start(startCommand())
    expect([...host.agent.docks.live()].map((each) => each.dockId)).toEqual([dockId])
    await host.agent.docks.forgetGone()
    expect(host.agent.docks.find(gone)).not.toBeNull()
    const end = host.agent.watch()
    const pass = async (hours: number) => {
      host.clock.advance(hours * 3_600_000)
      // The watch has looked for such Docks and will do so again in ten minutes.
      await expect.poll(() => host.clock.pending()).toContain(10 * 60_000)
    }
    await pass(23)
    expect(host.agent.docks.find(gone)).not.toBeNull()
    await pass(2)
    await expect.poll(() => host.agent.docks.find(gone)).toBeNull()
    expect(host.agent.docks.find(dockId)).not.toBeNull()
    expect(await files()).toBe(1)
    end()
  })

  test('returns its capture when its stop is repeated after it was forgotten', async () => {
    dockId = newUuid()
    await dock().start(startCommand())
    const stop = { ...command(), captureId: newUuid() }
    const stopped = await dock().stop(stop)
    await host.clock.advanceInSteps(25 * 3_600_000)
    await host.agent.docks.forgetGone()
    expect(host.agent.docks.find(dockId)).toBeNull()
    expect(await dock().stop(stop)).toEqual(stopped)
    await expect(dock().stop({ ...stop, captureId: newUuid() })).rejects.toEqual(refusal('not_found'))
  })

  test('is forgotten sooner if there are very many', async () => {
    const first = await ended()
    await host.clock.advanceInSteps(1)
    for (let count = 0; count < 2_000; count += 50) {
      const more = Array.from({ length: 50 }, () => host.agent.docks.getForCommand(newUuid()))
      await Promise.all(more.map((each) => each.destroy(command())))
    }
    await host.agent.docks.forgetGone()
    expect(await files()).toBe(2_000)
    expect(host.agent.docks.find(first)).toBeNull()
  })
})

describe('exec', () => {
  test('runs a login bash as the Dock user with the given variables', async () => {
    await dock().start(startCommand())
    expect(await dock().exec(exec())).toMatchObject({ exitCode: 0, stdout: 'out\n' })
    expect(host.driver.executed[0]).toMatchObject({
      ...{ argv: ['/bin/bash', '-lc', 'true'], uid: 1000, gid: 1000, cwd: '/home/user' },
      env: { HOME: '/home/user', USER: 'user', A: 'b' },
    })
  })

  test('refuses a fifth parallel command as busy, and accepts it when another has ended', async () => {
    await dock().start(startCommand())
    const release = host.driver.hold('exec')
    const four = Promise.all([1, 2, 3, 4].map(() => dock().exec(exec())))
    await expect(dock().exec(exec())).rejects.toEqual(refusal('busy'))
    release()
    await four
    expect(await dock().exec(exec())).toHaveProperty('exitCode', 0)
  })

  test('fails if its Dock dies, with a code that does not invite the caller to repeat it', async () => {
    await dock().start(startCommand())
    host.driver.hold('execEnd')
    const running = expect(dock().exec(exec())).rejects.toEqual(refusal('failed'))
    await expect.poll(() => host.driver.executed).toHaveLength(1)
    host.driver.kill(dockId)
    await running
  })

  test('is refused by a Dock that died', async () => {
    await dock().start(startCommand())
    host.driver.kill(dockId)
    await expect.poll(() => host.agent.docks.reports()[0]?.state).toBe('dead')
    await expect(dock().exec(exec())).rejects.toEqual(refusal('not_running'))
    await expect.poll(() => host.residue()).toEqual({ ...nothing, disks: [dockId] })
  })
})

describe('the next agent', () => {
  test('adopts running Docks and accepts commands for them', async () => {
    const once = startCommand()
    await dock().start(once)
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'running', ip: '10.0.0.1' }])
    expect(await dock().start(once)).toEqual({ ip: '10.0.0.1' })
    expect(await dock().exec(exec())).toHaveProperty('exitCode', 0)
    host.driver.kill(dockId)
    await expect.poll(() => host.agent.docks.reports()[0]?.state).toBe('dead')
  })

  test('reports a Dock that died in the meantime as dead, and one ended by a reboot as stopped', async () => {
    await dock().start(startCommand())
    host.driver.killWithoutNotice(dockId)
    const rebooted = newUuid()
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'dead' }])
    await host.agent.docks.getForCommand(rebooted).start(startCommand())
    host.driver.killWithoutNotice(rebooted)
    const later = await host.startAgent('boot-2')
    expect(later.docks.reports()).toContainEqual(
      expect.objectContaining({ dockId: rebooted, state: 'stopped' }),
    )
  })

  test('ends a Dock whose stop was interrupted, and captures its disk when the stop is repeated', async () => {
    await dock().start(startCommand())
    const stop = { ...command(), captureId: newUuid() }
    host.driver.hold('freeze')
    dock()
      .stop(stop)
      .catch(() => undefined)
    await expect.poll(() => host.driver.held).toEqual(['freeze'])
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'stopped', ended: 'ordered' }])
    expect(await host.residue()).toEqual({ ...nothing, disks: [dockId] })
    expect((await dock().stop(stop)).capture).not.toBeNull()
    await expect.poll(() => host.residue()).toEqual(nothing)
  })

  test('removes what a stop left after its response', async () => {
    await dock().start(startCommand())
    host.driver.hold('destroy')
    await dock().stop({ ...command(), captureId: newUuid() })
    const hold = host.driver.hold('destroy')
    hold()
    host.agent = await host.startAgent()
    expect(await host.residue()).toEqual(nothing)
  })

  test('undoes an interrupted start', async () => {
    host.driver.hold('start')
    dock()
      .start(startCommand())
      .catch(() => undefined)
    await expect.poll(() => host.driver.held).toEqual(['start'])
    const later = await host.startAgent()
    expect(later.docks.reports()).toEqual([])
    expect(await host.residue()).toEqual(nothing)
  })

  test('ends a sandbox that an agent was starting when it died, before it detaches the disk', async () => {
    const letGo = host.driver.hold('start')
    dock()
      .start(startCommand())
      .catch(() => undefined)
    await expect.poll(() => host.driver.held).toEqual(['start'])
    const later = host.startAgent()
    letGo()
    expect((await later).docks.reports()).toEqual([])
    expect(host.driver.started).toHaveLength(1)
    expect(await host.residue()).toEqual(nothing)
  })

  test('removes what no record owns, but nothing of a Dock whose record it cannot read', async () => {
    const unreadable = newUuid()
    for (const id of [dockId, unreadable]) {
      await host.disks.create(id, { from: { image: 'debian-13' }, diskGiB: 2 })
      await host.networks.create(id)
    }
    await writeFile(join(host.handlesFolder, `${unreadable}.json`), '{"half')
    await host.startAgent()
    expect(await host.residue()).toEqual({ ...nothing, disks: [unreadable], networks: [unreadable] })
  })

  test('recovers the other Docks if one can be neither adopted nor cleaned up', async () => {
    const other = newUuid()
    await dock().start(startCommand())
    await host.agent.docks.getForCommand(other).start(startCommand())
    host.driver.killWithoutNotice(dockId)
    host.disks.failNext('detach', new Error('the disk is held'))
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ dockId, state: 'dead', ended: 'died' }),
        expect.objectContaining({ dockId: other, state: 'running' }),
      ]),
    )
    expect((await host.residue()).disks.sort()).toEqual([dockId, other].sort())
    await dock().start(startCommand({ generation: 2, source: { kind: 'own' }, newIdentity: false }))
    expect((await host.residue()).sandboxes).toContain(`${dockId}/2`)
  })

  test('after a clean shutdown boots the Docks from their own disks', async () => {
    await dock().start(startCommand())
    await host.agent.shutdown()
    expect(await host.residue()).toEqual({ ...nothing, disks: [dockId] })
    expect(() => dock()).toThrow('shutting down')
    host.agent = await host.startAgent()
    expect(host.agent.docks.reports()).toMatchObject([{ dockId, state: 'stopped' }])
    await dock().start(startCommand({ generation: 2, source: { kind: 'own' }, newIdentity: false }))
    expect((await host.residue()).sandboxes).toEqual([`${dockId}/2`])
  })
})

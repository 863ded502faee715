import { createLogger } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf } from '@dock/testkit/src/docks/each-world.ts'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTtlClock } from '../core/ttl-clock.ts'
import { readDock, resumeDock, stopDock, updateDock } from '../index.ts'

describe('the ttl clock', () => {
  const logger = createLogger('test')
  logger.level = 'silent'
  const made = () => {
    const clock = createVirtualClock()
    const due: number[] = []
    const stops: number[] = []
    const at = (seconds: number): Date => new Date(start + seconds * 1000)
    const start = clock.now().getTime()
    let failing = false
    const ttl = createTtlClock({
      clock,
      logger,
      stopDue: async () => {
        if (failing) throw new Error('no database')
        const now = (clock.now().getTime() - start) / 1000
        for (const moment of due.filter((each) => each <= now)) stops.push(moment)
        due.splice(0, due.length, ...due.filter((each) => each > now))
      },
      nextDue: async () => (due.length === 0 ? null : at(Math.min(...due))),
    })
    /** Advances second by second, and lets the clock's work finish in between. */
    const advance = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1000)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    return { ttl, due, stops, at, advance, fail: (now: boolean) => (failing = now) }
  }

  it('stops each Dock on time, in any order of notification', async () => {
    const { ttl, due, stops, at, advance } = made()
    ttl.start()
    await advance(1)
    for (const moment of [20, 5, 10]) {
      due.push(moment)
      ttl.note(at(moment))
    }
    await advance(4)
    expect(stops).toEqual([5])
    await advance(6)
    expect(stops).toEqual([5, 10])
    await advance(9)
    expect(stops).toEqual([5, 10, 20])
  })

  it('finds stop times without notification within 30 s, including those from before its start', async () => {
    const { ttl, due, stops, advance } = made()
    due.push(0)
    ttl.start()
    await advance(1)
    expect(stops).toEqual([0])
    due.push(2)
    await advance(31)
    expect(stops).toEqual([0, 2])
  })

  it('continues after a failure, and does nothing after stop', async () => {
    const { ttl, due, stops, at, advance, fail } = made()
    ttl.start()
    await advance(1)
    fail(true)
    due.push(3)
    ttl.note(at(3))
    await advance(5)
    fail(false)
    await advance(2)
    expect(stops).toEqual([3])
    ttl.stop()
    due.push(9)
    ttl.note(at(9))
    await advance(60)
    expect(stops).toEqual([3])
  })
})

describe('a Dock with a ttl', () => {
  let database: FreshDatabase
  let world: TestWorld
  beforeEach(async () => {
    database = await createFreshDatabase()
    world = await createTestWorld(database.db)
    await world.modules.start()
  })
  afterEach(async () => {
    await world.modules.stop()
    await database.drop()
  })
  const stateOf = async (id: string): Promise<string> =>
    (await readDock(world.modules.context, world.caller, id)).state
  const update = (id: string, ttlSeconds: number | null) =>
    updateDock(world.modules.context, world.caller, id, { ttlSeconds })
  /** Advances the clock, with regular reports of the host. */
  const advance = async (seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left -= 20) {
      world.clock.advance(Math.min(left, 20) * 1000)
      await world.report()
    }
    await world.modules.runner.settled()
  }
  /** Advances the clock in small steps until the timer has archived the Dock. */
  const archived = (id: string, timeout = 60_000) =>
    expect
      .poll(
        async () => {
          world.clock.advance(20)
          return stateOf(id)
        },
        { timeout },
      )
      .toBe('archived')

  it('is stopped when its ttl has passed since ready, not earlier', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    await advance(59)
    expect(await stateOf(dock.id)).toBe('ready')
    await advance(1)
    await archived(dock.id)
  })

  it('is stopped at once if its ttl is set to less than the time that has passed', async () => {
    const dock = await world.create({ ttlSeconds: 3600 })
    await advance(100)
    await update(dock.id, 110)
    await advance(1)
    expect(await stateOf(dock.id)).toBe('ready')
    await update(dock.id, 99)
    await archived(dock.id)
  })

  it('is stopped on time even if its host was silent until just before', async () => {
    const dock = await world.create({ ttlSeconds: 100 })
    await world.beSilent(95_000)
    expect(await stateOf(dock.id)).toBe('unreachable')
    await world.report()
    await advance(1)
    await advance(3)
    expect(await stateOf(dock.id)).toBe('ready')
    world.clock.advance(1_000)
    await expect.poll(() => stateOf(dock.id), { timeout: 20_000 }).not.toBe('ready')
    await archived(dock.id)
  })

  it('is stopped even if the process that booted it has died', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    await world.modules.stop()
    await advance(59)
    const other = world.another()
    await other.start()
    await advance(1)
    await archived(dock.id)
    await other.stop()
  })

  it('runs on when its ttl is cleared, and counts again from a resume', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    await update(dock.id, null)
    await advance(100)
    expect(await stateOf(dock.id)).toBe('ready')
    await stopDock(world.modules.context, world.caller, dock.id, { force: false })
    await resumeDock(world.modules.context, world.caller, dock.id, { ttlSeconds: 60 })
    await advance(59)
    expect(await stateOf(dock.id)).toBe('ready')
    await advance(1)
    await archived(dock.id)
  })

  it('is stopped at once if its ttl ran out during a stop that failed', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('stop', promise)
    world.host.failures.set('stop', ['failed'])
    const refused = outcomeOf(stopDock(world.modules.context, world.caller, dock.id, { force: false }))
    await expect.poll(() => stateOf(dock.id)).toBe('archiving')
    for (const seconds of [20, 20, 21]) {
      world.clock.advance(seconds * 1_000)
      await world.report()
    }
    resolve()
    expect(await refused).toBe('service_unavailable')
    await archived(dock.id, 10_000)
  })

  it('is retried ten minutes after its capture failed', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    const paused = async () => (await readDock(world.modules.context, world.caller, dock.id)).billingPausedAt
    world.host.failures.set('stop', ['failed'])
    await advance(60)
    await expect
      .poll(
        () => {
          world.clock.advance(20)
          return paused()
        },
        { timeout: 60_000 },
      )
      .not.toBeNull()
    await advance(300)
    expect(await stateOf(dock.id)).toBe('ready')
    await advance(300)
    await archived(dock.id)
    expect(await paused()).toBeNull()
  })
})

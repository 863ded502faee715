import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { execInDock, readDock, stopDock } from '../index.ts'
import { createKeptProcessActivity } from './kept-processes.ts'
import { useWhileOpen } from './use-while-open.ts'

let database: FreshDatabase
let world: TestWorld
let dockId: string
beforeEach(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  dockId = (await world.create()).id
})
afterEach(() => database.drop())

const activity = () => world.modules.context.activity
const settled = () => activity().settled()
const stateOf = async (): Promise<string> =>
  (await readDock(world.modules.context, world.caller, dockId)).state
const exec = () =>
  execInDock(
    world.modules.context,
    world.caller,
    dockId,
    { command: 'x', timeoutSeconds: 600, env: {}, cwd: '/' },
    undefined,
  )
/** Advances the clock, with a sweep every half minute like the timer. */
const advance = async (minutes: number): Promise<void> => {
  for (let half = 0; half < minutes * 2; half++) {
    world.clock.advance(30_000)
    await settled()
    await activity().sweep()
  }
}
const writes = async (): Promise<number> =>
  (
    await sql<{
      n: number
    }>`select count(*)::int as n from dock_state_changes where dock_id = ${dockId}`.execute(world.db)
  ).rows[0]!.n

it('is running while a session lasts longer than ten seconds, and ready after it', async () => {
  const end = activity().begin({ id: dockId })
  world.clock.advance(9_999)
  await settled()
  expect(await stateOf()).toBe('ready')
  world.clock.advance(1)
  await settled()
  expect(await stateOf()).toBe('running')
  const other = activity().begin({ id: dockId })
  world.clock.advance(10_000)
  end()
  end()
  await settled()
  expect(await stateOf()).toBe('running')
  other()
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('is running until a long command ends', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('exec', promise)
  const answer = exec()
  await expect.poll(() => world.host.calls.some((call) => call.method === 'exec')).toBe(true)
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('running')
  await advance(20)
  expect(await stateOf()).toBe('running')
  resolve()
  await answer
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('is idle after 15 minutes without sessions, and ready again with the next one', async () => {
  await advance(14.5)
  expect(await stateOf()).toBe('ready')
  await advance(0.5)
  expect(await stateOf()).toBe('idle')
  await exec()
  expect(await stateOf()).toBe('idle')
  await advance(0.5)
  expect(await stateOf()).toBe('ready')
  await advance(14.5)
  await exec()
  await advance(14.5)
  expect(await stateOf()).toBe('ready')
  await advance(1)
  expect(await stateOf()).toBe('idle')
})

it('goes from idle to running with a long session', async () => {
  await advance(15)
  const end = activity().begin({ id: dockId })
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('running')
  end()
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('writes only the time of short commands', async () => {
  const before = await writes()
  for (let call = 0; call < 5; call++) await exec()
  await advance(1)
  expect(await writes()).toBe(before)
})

it('ends sessions of a process that has died', async () => {
  const other = world.another()
  other.context.activity.begin({ id: dockId })
  world.clock.advance(10_000)
  await other.context.activity.settled()
  expect(await stateOf()).toBe('running')
  await advance(1)
  expect(await stateOf()).toBe('running')
  await advance(1)
  expect(await stateOf()).toBe('ready')
})

it('is not in use by a stream that closed at once, or did not open', async () => {
  const closed = new PassThrough().destroy()
  await once(closed, 'close')
  await useWhileOpen(activity(), { id: dockId }, async () => closed)
  await expect(
    useWhileOpen(activity(), { id: dockId }, () => Promise.reject(new Error('refused'))),
  ).rejects.toThrow('refused')
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('is not in use by a process that has ended while its start was being looked up', async () => {
  const { hostId } = await readDock(world.modules.context, world.caller, dockId)
  const kept = createKeptProcessActivity({ db: world.db, activity: activity() })
  await Promise.all([kept.note(hostId!, { dockId, running: 1 }), kept.note(hostId!, { dockId, running: 0 })])
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('does not change a Dock that was stopped in the meantime', async () => {
  const end = activity().begin({ id: dockId })
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
  world.clock.advance(10_000)
  await settled()
  end()
  await settled()
  await advance(16)
  expect(await stateOf()).toBe('archived')
})

it('marks all inactive Docks idle in one sweep, over several pages', async () => {
  await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime, state,
      state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, active_at, created_by,
      created_at, updated_at)
    select gen_random_uuid(), organization_id, workspace_id, 'quiet-' || n, image, cpus, memory_mib, disk_gib, runtime,
      state, state_changed_at, generation, environment, no_env, false, false, setup_status, active_at, created_by,
      created_at, updated_at from docks, generate_series(1, 450) n where id = ${dockId}`.execute(world.db)
  world.clock.advance(15 * 60_000)
  await activity().sweep()
  const states = await sql<{ state: string; n: number }>`select state, count(*)::int as n from docks
    group by state`.execute(world.db)
  expect(states.rows).toEqual([{ state: 'idle', n: 451 }])
})

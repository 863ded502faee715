import { type FreshDatabase, freshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { execInDock, readDock, stopDock } from '../index.ts'

let database: FreshDatabase
let world: TestWorld
let dockId: string
beforeEach(async () => {
  database = await freshDatabase()
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
/** Time passes as it does for the timers: with a sweep each half minute. */
const pass = async (minutes: number): Promise<void> => {
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

it('is running while a session of ten seconds lasts, and ready after it', async () => {
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

it('is running for as long as a command takes', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('exec', promise)
  const answer = exec()
  await expect.poll(() => world.host.calls.some((call) => call.method === 'exec')).toBe(true)
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('running')
  await pass(20)
  expect(await stateOf()).toBe('running')
  resolve()
  await answer
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('is idle after 15 minutes without any, and ready again with the next', async () => {
  await pass(14.5)
  expect(await stateOf()).toBe('ready')
  await pass(0.5)
  expect(await stateOf()).toBe('idle')
  await exec()
  expect(await stateOf()).toBe('idle')
  await pass(0.5)
  expect(await stateOf()).toBe('ready')
  await pass(14.5)
  await exec()
  await pass(14.5)
  expect(await stateOf()).toBe('ready')
  await pass(1)
  expect(await stateOf()).toBe('idle')
})

it('goes from idle to running with a session that lasts', async () => {
  await pass(15)
  const end = activity().begin({ id: dockId })
  world.clock.advance(10_000)
  await settled()
  expect(await stateOf()).toBe('running')
  end()
  await settled()
  expect(await stateOf()).toBe('ready')
})

it('writes nothing for short commands but when they were', async () => {
  const before = await writes()
  for (let call = 0; call < 5; call++) await exec()
  await pass(1)
  expect(await writes()).toBe(before)
})

it('forgets sessions of a process that is gone', async () => {
  const other = world.another()
  other.context.activity.begin({ id: dockId })
  world.clock.advance(10_000)
  await other.context.activity.settled()
  expect(await stateOf()).toBe('running')
  await pass(1)
  expect(await stateOf()).toBe('running')
  await pass(1)
  expect(await stateOf()).toBe('ready')
})

it('leaves a Dock alone that was stopped meanwhile', async () => {
  const end = activity().begin({ id: dockId })
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
  world.clock.advance(10_000)
  await settled()
  end()
  await settled()
  await pass(16)
  expect(await stateOf()).toBe('archived')
})

it('lets every Dock that fell quiet read idle in one sweep, however many there are', async () => {
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

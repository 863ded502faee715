import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { withTransaction } from '../../../database/database.ts'
import { resumeDock } from '../boot/resume-dock.ts'
import { findDock } from '../core/dock-store.ts'
import { orderStops } from '../index.ts'
import { beginStop, stopDock, stopDueDocks } from '../stop/stop-dock.ts'
import { readDockLastStop } from './read-last-stop.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})
let id: string
beforeEach(async () => {
  id = (await world.create()).id
  await sql`update users set name = 'Ada' where id = ${world.caller.userId}`.execute(world.db)
})

const context = () => world.modules.context
const lastStop = async (caller = world.caller) => (await readDockLastStop(context(), caller, id)).lastStop
const stop = (force = false) => stopDock(context(), world.caller, id, { force })
const settle = async () => {
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
}
/** The person's credential as the rows of the database have it. */
const addKey = (name: string) =>
  sql`insert into api_keys (id, user_id, name, key_prefix, key_hash)
    values (${world.caller.credentialId}, ${world.caller.userId}, ${name}, 'dock_x', ${Buffer.from(newUuid())})`.execute(
    world.db,
  )
/** `shortage` is what ended for lack of memory: a program of the Dock, or all of it. */
const died = async (times: number, shortage: 'nothing' | 'program' | 'sandbox') => {
  for (let generation = 1; generation <= times; generation++) {
    if (shortage !== 'nothing')
      await sql`insert into dock_memory_shortages (dock_id, generation, process, count, at)
        values (${id}, ${generation}, ${shortage === 'program' ? 'node' : null}, 1, ${world.clock.now()})`.execute(
        world.db,
      )
    await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: id, generation })
    await settle()
  }
}

it('is null for a Dock that has never stopped', async () => {
  expect(await lastStop()).toBeNull()
})

it('is hidden from strangers', async () => {
  expect(await outcomeOf(lastStop(world.stranger))).toBe('dock_not_found')
})

it('names the person and, to its owner alone, the API key', async () => {
  await addKey('ci')
  world.clock.advance(60_000)
  await stop()
  const by = { kind: 'api_key', name: 'Ada', keyName: 'ci' }
  const at = world.clock.now().toISOString()
  expect(await lastStop()).toEqual({
    reason: 'requested',
    by,
    at,
    message: 'Ada stopped it, with the API key "ci".',
  })
  await sql`insert into memberships (organization_id, user_id, role)
    values (${world.organizationId}, ${world.stranger.userId}, 'member')`.execute(world.db)
  expect(await lastStop(world.stranger)).toMatchObject({
    by: { kind: 'api_key', name: 'Ada', keyName: null },
    message: 'Ada stopped it, with an API key.',
  })
})

it('does not name a person who is no longer a member', async () => {
  await sql`insert into memberships (organization_id, user_id, role)
    values (${world.organizationId}, ${world.stranger.userId}, 'member')`.execute(world.db)
  await stop()
  await sql`delete from memberships where user_id = ${world.caller.userId}`.execute(world.db)
  expect(await lastStop(world.stranger)).toMatchObject({ by: { name: 'A former member' } })
})

it('says that a session stopped it', async () => {
  await stopDock(context(), { ...world.caller, kind: 'session' }, id, { force: false })
  expect(await lastStop()).toMatchObject({ by: { kind: 'person' }, message: 'Ada stopped it.' })
})

it('says that nothing was saved, and that data was deleted', async () => {
  await stop(true)
  expect(await lastStop()).toMatchObject({
    reason: 'forced',
    message: 'Ada stopped it by force, with an API key. Changes since its latest Snapshot were not saved.',
  })
  id = (await world.create()).id
  await sql`update organizations set retention_enabled = true where id = ${world.organizationId}`.execute(
    world.db,
  )
  await stop()
  expect(await lastStop()).toMatchObject({
    reason: 'requested',
    message: expect.stringContaining('Its data was deleted: the organization keeps none.'),
  })
})

it('tells the auto-stop timer from a person', async () => {
  await sql`update docks set stop_at = ${world.clock.now()} where id = ${id}`.execute(world.db)
  await stopDueDocks(context())
  await settle()
  expect(await lastStop()).toMatchObject({
    reason: 'ttl',
    by: { kind: 'system', name: 'Auto-stop timer', keyName: null },
    message: 'Its auto-stop time ran out.',
  })
})

it('tells the closing of an account', async () => {
  await withTransaction(world.db, (tx) => orderStops(tx, world.caller.userId, world.clock.now()))
  await world.modules.docks.orderedStops.run()
  await settle()
  expect(await lastStop()).toMatchObject({
    reason: 'account_closed',
    message: 'The account of Ada was closed.',
  })
})

it('tells the end of a Run', async () => {
  const dock = await findDock(world.db, world.organizationId, id)
  await beginStop(context(), dock!, { by: 'runs', through: 'timer', why: 'run ended' })
  await settle()
  expect(await lastStop()).toMatchObject({ reason: 'run_ended', by: { name: 'GitHub Runs' } })
})

it('tells why a stopped Dock did not resume', async () => {
  await stop()
  world.host.failures.set('start', ['failed', 'failed', 'failed', 'failed'])
  await resumeDock(context(), world.caller, id, {}).catch(() => undefined)
  await settle()
  expect(await lastStop()).toMatchObject({
    reason: 'resume_failed',
    message: expect.stringMatching(/^Ada resumed it, with an API key, but it could not be booted: ./),
  })
})

it('tells why a Dock could not be started', async () => {
  world.host.failures.set('start', ['failed', 'failed', 'failed', 'failed'])
  await world.create({ name: 'broken' }).catch(() => undefined)
  const { rows } = await sql<{ id: string }>`select id from docks where name = 'broken'
    and organization_id = ${world.organizationId}`.execute(world.db)
  id = rows[0]!.id
  expect(await lastStop()).toMatchObject({
    reason: 'start_failed',
    message: expect.stringMatching(/^It could not be started: ./),
  })
})

it.each([
  ['nothing', 'ended_too_often'],
  ['program', 'ended_too_often'],
  ['sandbox', 'out_of_memory'],
] as const)('tells why a Dock is not booted again (out of memory: %s)', async (shortage, reason) => {
  await died(4, shortage)
  expect(await lastStop()).toMatchObject({ reason, by: { kind: 'system', name: 'Host' } })
})

it('tells that a Dock could not be booted again', async () => {
  world.host.failures.set('start', ['failed', 'failed', 'failed', 'failed'])
  await died(1, 'nothing')
  expect(await lastStop()).toMatchObject({ reason: 'recovery_failed' })
})

it('tells of a silent host only while it is silent', async () => {
  await world.beSilent()
  expect(await lastStop()).toMatchObject({
    reason: 'host_silent',
    message: 'Its host does not respond. It goes on when the host is back.',
  })
  await world.report()
  expect(await lastStop()).toBeNull()
})

it('tells of a stop in progress, and of the last one while the Dock runs again', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('stop', promise)
  const stopping = stop()
  await expect.poll(async () => (await lastStop())?.reason).toBe('requested')
  resolve()
  await stopping
  await resumeDock(context(), world.caller, id, {})
  expect(await lastStop()).toMatchObject({ reason: 'requested' })
})

it('reads records that were written without details', async () => {
  const record = (cause: object) =>
    sql`insert into dock_state_changes (dock_id, organization_id, from_state, to_state, cause, at)
      values (${id}, ${world.organizationId}, 'archiving', 'archived', ${JSON.stringify(cause)}::jsonb, now())`.execute(
      world.db,
    )
  for (const [cause, reason] of [
    [{ by: `user:${world.caller.userId}`, through: 'api', why: 'stopped' }, 'requested'],
    [{ by: `user:${world.caller.userId}`, through: 'timer', why: 'stopped' }, 'account_closed'],
    [{ by: 'ttl', through: 'timer', why: 'stopped' }, 'ttl'],
    [{ by: 'operator', through: 'script', why: 'adopted' }, 'adopted'],
  ] as const) {
    await record(cause)
    expect(await lastStop()).toMatchObject({ reason })
  }
})

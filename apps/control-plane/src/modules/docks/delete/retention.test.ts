/** Zero data retention, against a real database and the fake host. */
import { ServiceError } from '@dock/contract'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createVisitor, type Member } from '../../accounts/index.ts'
import { updateRetention } from '../../organizations/index.ts'
import { createTemplate } from '../../templates/index.ts'
import { wipeTemplates } from '../../templates/template-store.ts'
import { resumeDock } from '../boot/resume-dock.ts'
import { execInDock } from '../exec/exec-dock.ts'
import { stopDock, stopDueDocks } from '../stop/stop-dock.ts'
import { updateDock } from '../view/update-dock.ts'
import { wipeArchivedDocks } from './wipe-archived.ts'

let world: TestWorld
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { alone: true },
)

const turnOn = () => sql`update organizations set retention_enabled = true`.execute(world.db)
const stop = (id: string, force = false) => stopDock(world.modules.context, world.caller, id, { force })
const count = async (table: string) =>
  (await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(world.db)).rows[0]!.n
const exec = (id: string) =>
  outcomeOf(
    execInDock(
      world.modules.context,
      world.caller,
      id,
      { command: 'canary', timeoutSeconds: 600, env: {}, cwd: '/' },
      { key: 'key' },
    ),
  )
/** Saves the outcomes that wait for their time. */
const save = (): Promise<void> => world.modules.context.keyedExecs.saveAll()
const keptOf = async (id: string) =>
  (
    await sql`select d.env_sealed as env, d.setup_error as setup, k.outcome_sealed as outcome
      from docks d join exec_keys k on k.dock_id = d.id where d.id = ${id}`.execute(world.db)
  ).rows[0]

it('deletes all data of a stopped Dock, including earlier Snapshots', async () => {
  const dock = await world.create()
  await stop(dock.id)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.captures.size).toBe(1)
  await turnOn()
  expect(await stop(dock.id)).toEqual({ id: dock.id, state: 'archived' })
  expect([world.host.captures.size, world.host.sandboxes.size, await count('snapshots')]).toEqual([0, 0, 0])
  await expect(resumeDock(world.modules.context, world.caller, dock.id, {})).rejects.toThrow(ServiceError)
  // The row stays, because it does not count as data at rest.
  await wipeArchivedDocks(world.modules.context)
  expect(await count('docks')).toBe(1)
})

it('a stop does not wait for removals: a host that cannot remove a capture now gets an order', async () => {
  const dock = await world.create()
  await stop(dock.id)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  await turnOn()
  world.host.failures.set('destroyCapture', ['lost'])
  expect(await stop(dock.id)).toEqual({ id: dock.id, state: 'archived' })
  // The Snapshot's row is deleted, but its capture still exists.
  expect([world.host.captures.size, await count('snapshots'), await count('host_orders')]).toEqual([1, 0, 1])
  await world.report()
  expect([world.host.captures.size, await count('host_orders')]).toEqual([0, 0])
})

it.each([false, true])('keeps no variables or output of a stopped Dock (forced: %s)', async (force) => {
  world.host.setupOutcome = { exitCode: 1, output: 'canary', timedOut: false }
  const dock = await world.create({ env: { TOKEN: 'canary' }, setupScript: 'false' })
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
  expect(await exec(dock.id)).toBe('succeeded')
  await save()
  await turnOn()
  await stop(dock.id, force)
  expect(await keptOf(dock.id)).toEqual({ env: null, setup: null, outcome: null })
  expect(await exec(dock.id)).toBe('exec_result_expired')
})

it('keeps no outcome of a command that ended after its Dock was stopped', async () => {
  const dock = await world.create()
  await turnOn()
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = world.host.exec
  world.host.exec = async (...call) => {
    const outcome = await asked(...call)
    await promise
    return outcome
  }
  const running = exec(dock.id)
  await expect.poll(() => world.host.calls.at(-1)?.method).toBe('exec')
  await stop(dock.id)
  resolve()
  expect(await running).toBe('succeeded')
  await save()
  expect(await exec(dock.id)).toBe('exec_result_expired')
})

it('deletes an archived Dock that has only variables left when the policy is turned on', async () => {
  const dock = await world.create({ env: { TOKEN: 'canary' } })
  await stop(dock.id, true)
  await turnOn()
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  expect(await count('docks')).toBe(0)
})

/** Makes the Docks somebody else's. The caller stays a plain member. */
const giveAway = () => sql`update docks set created_by = 'somebody else'`.execute(world.db)

it('keeps the earlier Snapshots and the variables in a forced stop, also of a plain member', async () => {
  const dock = await world.create({ env: { TOKEN: 'canary' } })
  await stop(dock.id)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  await turnOn()
  await sql`update organizations set retention_since = ${world.clock.now()}`.execute(world.db)
  await giveAway()
  world.clock.advance(1000)
  expect(await stop(dock.id, true)).toEqual({ id: dock.id, state: 'archived' })
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  expect([await count('docks'), await count('snapshots'), world.host.captures.size]).toEqual([1, 1, 1])
  expect(await resumeDock(world.modules.context, world.caller, dock.id, {})).toEqual({
    id: dock.id,
    state: 'ready',
  })
  expect(world.host.starts.at(-1)?.env).toEqual({ TOKEN: 'canary' })
  // A resume that fails archives the Dock again, and its Snapshots stay as well.
  await stop(dock.id, true)
  world.clock.advance(1000)
  world.host.failures.set('start', ['failed'])
  await outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, {}))
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  expect([await count('docks'), await count('snapshots')]).toEqual([1, 1])
})

it('deletes a Dock whose stop began before the policy and saved a Snapshot afterwards', async () => {
  const dock = await world.create()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('stop', promise)
  const stopping = stop(dock.id)
  await expect.poll(() => world.host.calls.at(-1)?.method).toBe('stop')
  await turnOn()
  await sql`update organizations set retention_since = ${world.clock.now()}`.execute(world.db)
  world.clock.advance(1000)
  resolve()
  expect(await stopping).toMatchObject({ state: 'archived' })
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  expect([await count('docks'), world.host.captures.size]).toEqual([0, 0])
})

it('lets only the creator and admins set a timer, whose stop deletes the data', async () => {
  const { context } = world.modules
  const dock = await world.create()
  await stop(dock.id)
  await resumeDock(context, world.caller, dock.id, {})
  await giveAway()
  const patch = (ttlSeconds: number | null) =>
    outcomeOf(updateDock(context, world.caller, dock.id, { ttlSeconds }))
  expect(await patch(3600)).toBe('succeeded')
  await turnOn()
  expect(await patch(60)).toBe('forbidden')
  world.clock.advance(120_000)
  await stopDueDocks(context)
  expect(await count('snapshots')).toBe(1)
  expect(await patch(null)).toBe('succeeded')
  const resume = () => outcomeOf(resumeDock(context, world.caller, dock.id, { ttlSeconds: 60 }))
  expect(await resume(), 'whatever its state, and with no Snapshot left').toBe('forbidden')
  await stop(dock.id, true)
  expect(await resume()).toBe('forbidden')
  await sql`update memberships set role = 'admin'`.execute(world.db)
  expect([await resume(), await patch(120)]).toEqual(['succeeded', 'succeeded'])
  await sql`update memberships set role = 'member'`.execute(world.db)
  await sql`update docks set created_by = ${world.caller.userId}`.execute(world.db)
  expect(await patch(60)).toBe('succeeded')
})

it('lets only the creator and admins stop a Dock, unless the stop is forced', async () => {
  const dock = await world.create()
  await turnOn()
  await giveAway()
  const refused = await stop(dock.id).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'dock_delete_forbidden' })
  expect(await stop(dock.id, true)).toMatchObject({ state: 'archived' })
})

it('deletes archived Docks and Templates when the policy is turned on', async () => {
  const [archived, running] = [await world.create(), await world.create()]
  await stop(archived.id)
  await sql`update memberships set role = 'admin'`.execute(world.db)
  const admin = createVisitor(world.caller, { role: 'admin', outsider: 'dock_not_found' })
  const gates = { retentionEnabled: async () => false, hasConnectors: async () => false }
  await createTemplate(world.modules.context, gates, admin, { dockId: archived.id, name: 'golden' })
  await turnOn()
  await wipeTemplates(world.db)
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  const left = await sql<{ id: string }>`select id from docks`.execute(world.db)
  expect(left.rows).toEqual([{ id: running.id }])
  expect([await count('templates'), world.host.captures.size]).toEqual([0, 0])
})

it('deletes Docks archived earlier even without a Snapshot, and keeps the rows of Docks stopped afterwards', async () => {
  const [before, after] = [await world.create(), await world.create()]
  await stop(before.id, true)
  world.clock.advance(1000)
  const member = { ...world.caller, organizationId: world.organizationId } as unknown as Member
  const turn = (enabled: boolean) =>
    updateRetention(world.modules.context, member, { enabled, confirmation: 'delete archived dock data' })
  await turn(true)
  world.clock.advance(1000)
  await stop(after.id, true)
  // Turning the policy on again changes nothing.
  await turn(true)
  await wipeArchivedDocks(world.modules.context)
  await world.modules.runner.settled()
  const left = await sql<{ id: string }>`select id from docks`.execute(world.db)
  expect(left.rows).toEqual([{ id: after.id }])
})

it('deletes many archived Docks in one round, even if some cannot be deleted', async () => {
  const ids: string[] = []
  for (let made = 0; made < 45; made++) {
    const { id } = await world.create()
    await stop(id)
    ids.push(id)
  }
  // Templates hold the Docks of the first page.
  const held = ids.toSorted().slice(0, 20)
  await sql`insert into templates (id, organization_id, name, source_dock_id, snapshot_id, status, image, disk_gib,
      runtime, created_at, updated_at)
    select gen_random_uuid(), s.organization_id, s.id::text, s.dock_id, s.id, 'ready', 'debian-13', 1, 'gvisor', now(), now()
    from snapshots s where s.dock_id = any(${held}::uuid[])`.execute(world.db)
  await turnOn()
  await wipeArchivedDocks(world.modules.context)
  const left = await sql<{ id: string }>`select id from docks order by id`.execute(world.db)
  expect(left.rows.map(({ id }) => id)).toEqual(held)
})

/** Zero data retention, against a real database and the fake host. */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createVisitor } from '../../accounts/index.ts'
import { createTemplate, wipeTemplates } from '../../templates/index.ts'
import { eachInAWorld } from '../test-each-world.ts'
import type { TestWorld } from '../test-world.ts'
import { resumeDock } from './resume-dock.ts'
import { stopDock } from './stop-dock.ts'
import { wipeArchivedDocks } from './wipe-archived.ts'

let world: TestWorld
eachInAWorld(
  (fresh) => {
    world = fresh
  },
  { alone: true },
)

const turnOn = () => sql`update organizations set retention_enabled = true`.execute(world.db)
const stop = (id: string, force = false) => stopDock(world.modules.context, world.caller, id, { force })
const count = async (table: string) =>
  (await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(world.db)).rows[0]!.n

it('leaves nothing of a Dock that is stopped, earlier Snapshots neither', async () => {
  const dock = await world.create()
  await stop(dock.id)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.captures.size).toBe(1)
  await turnOn()
  expect(await stop(dock.id)).toEqual({ id: dock.id, state: 'archived' })
  expect([world.host.captures.size, world.host.sandboxes.size, await count('snapshots')]).toEqual([0, 0, 0])
  await expect(resumeDock(world.modules.context, world.caller, dock.id, {})).rejects.toThrow(ServiceError)
  // The row stays, and is not taken for something at rest.
  await wipeArchivedDocks(world.modules.context)
  expect(await count('docks')).toBe(1)
})

it('lets only the creator and admins stop, unless the stop is forced', async () => {
  const dock = await world.create()
  await turnOn()
  await sql`update docks set created_by = 'somebody else'`.execute(world.db)
  const refused = await stop(dock.id).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'dock_delete_forbidden' })
  expect(await stop(dock.id, true)).toMatchObject({ state: 'archived' })
})

it('deletes archived Docks and Templates when it is turned on', async () => {
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

import type { AlertType } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { commitDock, hasRow, moved } from '../docks/core/dock-commit.ts'
import type { Alert } from './alert.ts'
import { alertStatement, raiseAlert } from './alert-statement.ts'

let database: FreshDatabase
let world: TestWorld
let dockId: string
beforeEach(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  dockId = (await world.create()).id
})
afterEach(() => database.drop())

const alertOf = (type: AlertType, over: Partial<Alert> = {}): Alert => ({
  type,
  dockId,
  organizationId: world.organizationId,
  title: 'A Dock',
  body: 'What happened.',
  at: world.clock.now(),
  eventId: newUuid(),
  ...over,
})
const inbox = () => database.db.selectFrom('notifications').selectAll().execute()
const mails = async (): Promise<string[]> =>
  (await database.db.selectFrom('outbox_mails').select('recipient').orderBy('recipient').execute()).map(
    (mail) => mail.recipient,
  )
const addMember = async (values: { email: string; verified?: boolean; closed?: boolean }) => {
  const id = newUuid()
  await database.db
    .insertInto('users')
    .values({
      id,
      name: 'M',
      email: values.email,
      email_verified: values.verified ?? true,
      closed_at: values.closed ? new Date() : null,
    })
    .execute()
  await database.db
    .insertInto('memberships')
    .values({ organization_id: world.organizationId, user_id: id, role: 'member' })
    .execute()
  return id
}

it('is written with the change of the Dock, once for each member', async () => {
  const alert = alertOf('stop_refused')
  const change = (generation: number) =>
    commitDock(database.db, {
      dockId,
      generation,
      moves: [{ from: 'ready', to: 'unreachable', why: 'host_silent' }],
      cause: { by: 'host', through: 'host' },
      now: world.clock.now(),
      also: [alertStatement(alert, hasRow(moved))],
    })
  expect(await change(7)).toBeNull()
  expect(await inbox()).toEqual([])
  expect(await change(1)).toMatchObject({ state: 'unreachable' })
  const rows = await inbox()
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    user_id: world.caller.userId,
    event_id: alert.eventId,
    type: 'stop_refused',
    dock_id: dockId,
    read_at: null,
  })
})

it('mails members with a verified address and an open account, and is raised once per event', async () => {
  await addMember({ email: 'verified@example.test' })
  await addMember({ email: 'unverified@example.test', verified: false })
  await addMember({ email: 'closed@example.test', closed: true })
  const alert = alertOf('disk_full')
  await raiseAlert(database.db, alert)
  await raiseAlert(database.db, alert)
  expect(await inbox()).toHaveLength(4)
  expect(await mails()).toEqual(['verified@example.test'])
})

it('follows the settings of the organization and of each user', async () => {
  const wanting = await addMember({ email: 'wanting@example.test' })
  const tired = await addMember({ email: 'tired@example.test' })
  await sql`insert into personal_alert_settings values
    (${wanting}, 'auto_recovered', true), (${tired}, 'disk_full', false)`.execute(database.db)
  await raiseAlert(database.db, alertOf('auto_recovered'))
  expect(await mails()).toEqual(['wanting@example.test'])
  await raiseAlert(database.db, alertOf('disk_full'))
  expect(await mails()).toEqual(['wanting@example.test', 'wanting@example.test'])
  const told = (await inbox()).length
  await sql`insert into organization_alert_settings values (${world.organizationId}, 'disk_full', false)`.execute(
    database.db,
  )
  await raiseAlert(database.db, alertOf('disk_full'))
  expect(await inbox()).toHaveLength(told)
})

import { systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Listener, listen } from './listen.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

/** A listener whose notifications are awaited one by one. */
const heard = () => {
  let notice = Promise.withResolvers<void>()
  const losses: Error[] = []
  let notices = 0
  const listener: Listener = listen({
    url: database.url,
    on: {
      dock_engine: () => {
        notices += 1
        notice.resolve()
      },
    },
    clock: systemClock,
    onLost: (error) => losses.push(error),
  })
  return {
    listener,
    losses,
    count: () => notices,
    next: async () => {
      await notice.promise
      notice = Promise.withResolvers()
    },
  }
}

const notify = () => sql`select pg_notify('dock_engine', '')`.execute(database.db)

it('receives notifications, and calls back once after a broken connection is restored', async () => {
  const { listener, losses, next } = heard()
  await next()
  await notify()
  await next()
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'dock-listener'`.execute(database.db)
  await next()
  expect(losses).toHaveLength(1)
  await notify()
  await next()
  await listener.close()
  expect(losses).toHaveLength(1)
})

it('is notified of a pending operation, but not of one with a lease', async () => {
  const { listener, next, count } = heard()
  await next()
  const insert = (id: string, status: string) =>
    sql`
      insert into operations (id, organization_id, kind, target_type, target_id, generation, status, data, cause,
        created_at, updated_at)
      values (${id}, gen_random_uuid(), 'test', 'dock', gen_random_uuid(), 1, ${status}, '{}', '{}', now(), now())`.execute(
      database.db,
    )
  await insert('op_held', 'processing')
  await sql`update operations set status = 'blocked' where id = 'op_held'`.execute(database.db)
  // Notifications arrive in commit order, so one of the two statements above would be counted before this one.
  await notify()
  await next()
  expect(count()).toBe(2)
  await sql`update operations set status = 'pending' where id = 'op_held'`.execute(database.db)
  await next()
  await insert('op_new', 'pending')
  await next()
  expect(count()).toBe(4)
  await listener.close()
})

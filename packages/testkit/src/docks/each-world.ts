/** What the tests of Docks share: a world of its own for each, and how work ended. */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../index.ts'
import { createTestWorld, type TestWorld } from './dock-world.ts'

/**
 * Makes a world before each test of the file and hands it and its database to `prepare`. They share a database, which goes after the
 * file; where `alone`, earlier worlds go before the next.
 */
export function eachInAWorld(
  prepare: (world: TestWorld, database: FreshDatabase) => unknown,
  options: { billing?: boolean; alone?: boolean } = {},
): void {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    if (options.alone)
      await sql`truncate organizations, users, hosts, join_tokens cascade`.execute(database.db)
    await prepare(await createTestWorld(database.db, options), database)
  })
}

/** `'succeeded'`, or the code that the work was refused with. */
export function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'succeeded',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )
}

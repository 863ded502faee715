/** Test setup for tests of Docks: a new world for each test, and a helper for expected errors. */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { createFreshDatabase, type FreshDatabase } from '../index.ts'
import { createTestWorld, type TestWorld } from './dock-world.ts'

/**
 * Creates a new world before each test of the file and passes it, with its database, to `prepare`. The worlds share one
 * database, which is dropped after the file. With `alone`, earlier worlds are deleted before the next one is created.
 */
export function useTestWorld(
  prepare: (world: TestWorld, database: FreshDatabase) => unknown,
  options: { billing?: boolean; alone?: boolean; runImage?: string } = {},
): void {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await createFreshDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(async () => {
    if (options.alone)
      await sql`truncate organizations, users, hosts, join_tokens cascade`.execute(database.db)
    await prepare(await createTestWorld(database.db, options), database)
  })
}

/** Returns `'succeeded'`, or the error code with which the work was refused. */
export function outcomeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'succeeded',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  )
}

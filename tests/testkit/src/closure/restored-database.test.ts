import { withTransaction } from '@dock/control-plane/src/database/database.ts'
import { sql } from 'kysely'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFreshDatabase } from '../fresh-database.ts'
import { backUpDatabase } from './restored-database.ts'

it('restores again if it and a transaction of the instance wait for each other', async () => {
  const { db, drop } = await createFreshDatabase()
  onTestFinished(drop)
  const waiting = async () =>
    (
      await sql`select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    ).rows.length
  const restore = await backUpDatabase(db)
  let restored: Promise<void> | undefined
  await withTransaction(db, async (tx) => {
    await sql`lock table workspaces in row exclusive mode`.execute(tx)
    restored = restore()
    await vi.waitFor(async () => expect(await waiting()).toBe(1))
    // The restore holds this table, and waits for the other.
    await sql`lock table hosts in row exclusive mode`.execute(tx)
  })
  await restored
})

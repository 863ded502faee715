/** Makes races deterministic: another connection locks rows until all competing connections wait for them. */
import pg from 'pg'
import { vi } from 'vitest'
import type { FreshDatabase } from './fresh-database.ts'

/**
 * Starts `work` while `lock` (a `select … for update`) holds its rows, and releases them once `waiting` connections
 * wait for a lock. By then, code that reads before it writes has read the state before the other writes.
 */
export async function whileLocked<T>(
  database: Pick<FreshDatabase, 'url'>,
  options: { lock: string; waiting: number },
  work: () => Promise<T>,
): Promise<T> {
  const clients = [0, 1].map(() => new pg.Client({ connectionString: database.url }))
  const [holder, observer] = clients as [pg.Client, pg.Client]
  await Promise.all(clients.map((client) => client.connect()))
  try {
    await holder.query('begin')
    await holder.query(options.lock)
    const result = work()
    const tooEarly = result.then((value) => {
      throw new Error(`the work ended before ${options.waiting} connections waited: ${JSON.stringify(value)}`)
    })
    tooEarly.catch(() => undefined)
    const waited = vi.waitFor(
      async () => {
        const { rows } = await observer.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        )
        if (rows[0]!.n < options.waiting) throw new Error(`${rows[0]!.n} connections wait for a lock`)
      },
      { timeout: 20_000, interval: 20 },
    )
    await Promise.race([waited, tooEarly])
    await holder.query('commit')
    return await result
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

/** Ensures that at most one control plane works on a database, by an advisory lock that ends with its session. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** Keys of all advisory locks that this program takes. */
export const advisoryLocks = { migrations: 710_001, instance: 710_002, firstPerson: 710_003 } as const

export type InstanceLock = { release(): Promise<void> }

/**
 * Takes the lock on a separate connection. Throws if another control plane still holds it after `timeoutMs`. Calls
 * `onLost` if the connection breaks: another control plane may start from then on, so the caller must stop working.
 */
export async function holdInstanceLock(
  url: string,
  onLost: (error: Error) => void,
  timeoutMs = 3_000,
): Promise<InstanceLock> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'dock-instance-lock',
    keepAlive: true,
  })
  let released = false
  client.on('error', (error) => {
    if (!released) onLost(error)
  })
  await client.connect()
  const tryLock = async (): Promise<boolean> => {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      advisoryLocks.instance,
    ])
    return rows[0]?.taken ?? false
  }
  // PostgreSQL notices the end of a killed process a moment later than the supervisor, which restarts it.
  const deadline = Date.now() + timeoutMs
  let taken = await tryLock()
  while (!taken && Date.now() < deadline) {
    await delay(100)
    taken = await tryLock()
  }
  const release = async (): Promise<void> => {
    released = true
    await client.end()
  }
  if (!taken) {
    await release()
    throw new Error(
      'Another control plane works on this database. Stop it first: only one per database is supported.',
    )
  }
  return { release }
}

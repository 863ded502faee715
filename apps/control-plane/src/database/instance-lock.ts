/** At most one control plane works on a database: a lock that lives exactly as long as its session. */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

/** Keys of the advisory locks this program takes, each with one meaning. */
export const advisoryLocks = { migrations: 710_001, instance: 710_002, firstPerson: 710_003 } as const

export type InstanceLock = { release(): Promise<void> }

/**
 * Takes the lock on a connection of its own. Throws when another control plane
 * still holds it after `patienceMs`. `onLost` is called when the
 * connection breaks, since another one may start from then on: the caller must stop working.
 */
export async function holdInstanceLock(
  url: string,
  onLost: (error: Error) => void,
  patienceMs = 3_000,
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
  // The server notices the end of a killed process a moment later than its supervisor does.
  const deadline = Date.now() + patienceMs
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
      'Another control plane works on this database. Stop it first: two of them are not supported yet.',
    )
  }
  return { release }
}

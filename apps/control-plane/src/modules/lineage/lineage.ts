/**
 * Notices a restored database. Each start of the control plane has a row, with a mark that grows while it works; hosts and
 * the object store remember the last that they were told. What they remember and the database does not know was done in
 * a time that the database has lost: then a new epoch begins, and what was ordered before is told apart from what is
 * ordered now.
 */
import { type Clock, type Logger, newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'

/** Generations carry the epoch, and have no number for a later one: a hostile host must not use them up. */
const epochMax = 2_000

/** The last that somebody outside of the database has heard of the instance. */
export type Remembered = { epoch: number; startId: string; mark: number }

export type Lineage = {
  /** The epoch that works now; 0 until the database was read. */
  epoch(): number
  /** Reads the epoch and notes this start; the first call does it. */
  begin(): Promise<void>
  /** What is to be remembered from now on; saved before it is returned. */
  advance(): Promise<Remembered>
  /** The last that {@link Lineage.advance} returned. */
  current(): Promise<Remembered>
  /** Compares; begins a new epoch and returns true when the database is older than what is remembered. */
  look(remembered: Remembered | null, by: string): Promise<boolean>
  /** When the present epoch began; null for the first, which no restore began. */
  begunAt(): Date | null
  /** Whether an earlier process began the operation: what its host knows of it may be newer than the database. */
  isInherited(operationId: string): Promise<boolean>
  /**
   * Whether the operation may have been carried out in a time that the database has lost, so that its host has gone on
   * from there: it began before the present epoch, or is inherited and its host, which alone could tell, is lost.
   */
  isOfLostTime(operationId: string): Promise<boolean>
}

export function createLineage(options: { db: Db; clock: Clock; logger: Logger }): Lineage {
  const { db, clock, logger } = options
  const startId = newUuid()
  let state = { epoch: 0, begunAt: null as Date | null }
  let startedAt = clock.now()
  let mark = 0
  let begun: Promise<void> | undefined

  const doBegin = async (): Promise<void> => {
    const now = clock.now()
    startedAt = now
    const row = await sql<{ epoch: number; begunAt: Date | null }>`
      select epoch, begun_at as "begunAt" from instance_epoch`.execute(db)
    if (row.rows[0]) state = row.rows[0]
    await sql`insert into instance_starts (id, started_at) values (${startId}, ${now})`.execute(db)
  }
  const begin = (): Promise<void> => {
    begun ??= doBegin().catch((error: unknown) => {
      begun = undefined
      throw error
    })
    return begun
  }

  const isUnknown = async ({ epoch, startId: id, mark: seen }: Remembered): Promise<boolean> => {
    // What was done in an epoch that is over is told apart already.
    if (epoch < state.epoch) return false
    if (state.epoch >= epochMax) return false
    if (epoch > state.epoch) return true
    const known = await sql<{ mark: string }>`select mark from instance_starts where id = ${id}`.execute(db)
    const row = known.rows[0]
    return row === undefined || Number(row.mark) < seen
  }

  const beginEpoch = (remembered: Remembered): Promise<void> =>
    withTransaction(db, async (tx) => {
      const now = clock.now()
      const next = Math.min(epochMax, Math.max(state.epoch, remembered.epoch) + 1)
      await sql`update instance_epoch set epoch = ${next}, begun_at = ${now}`.execute(tx)
      state = { epoch: next, begunAt: now }
    })

  /** One after the other: two hosts that both know more begin one epoch. */
  let looking: Promise<unknown> = Promise.resolve()
  const lookNow = async (remembered: Remembered, by: string): Promise<boolean> => {
    await begin()
    if (!(await isUnknown(remembered))) return false
    await beginEpoch(remembered)
    logger.error(
      { by, remembered, epoch: state.epoch },
      'the database is older than what was seen of it: it was restored, and a new epoch begins; script/quarantine list shows what it does not know',
    )
    return true
  }

  return {
    epoch: () => state.epoch,
    begin,
    begunAt: () => state.begunAt,
    isInherited: async (operationId) => {
      const found = await sql`select 1 from operations
        where id = ${operationId} and created_at < ${startedAt}`.execute(db)
      return found.rows.length > 0
    },
    isOfLostTime: async (operationId) => {
      const found = await sql`select 1 from operations o
        where o.id = ${operationId} and (o.created_at < ${state.begunAt}::timestamptz
          or (o.created_at < ${startedAt} and exists (
            select 1 from hosts h where h.id = o.host_id and h.lost_at is not null)))`.execute(db)
      return found.rows.length > 0
    },
    current: async () => {
      await begin()
      return { epoch: state.epoch, startId, mark }
    },
    advance: async () => {
      await begin()
      const saved = await sql<{ mark: string }>`
        update instance_starts set mark = mark + 1 where id = ${startId} returning mark`.execute(db)
      mark = Number(saved.rows[0]?.mark ?? mark)
      return { epoch: state.epoch, startId, mark }
    },
    look: (remembered, by) => {
      if (remembered === null) return Promise.resolve(false)
      const looked = looking.then(() => lookNow(remembered, by))
      looking = looked.catch(() => undefined)
      return looked
    },
  }
}

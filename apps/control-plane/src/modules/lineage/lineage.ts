/**
 * Detects that the database was restored from a backup. Each start of the control plane has a row with a mark, which grows
 * while the process runs. Hosts and the object store remember the latest watermark (epoch, start and mark) that they
 * received. A remembered watermark that the database does not know means that the database was restored. A new epoch then
 * begins. "Lost time" is the time between the backup and the restore, which the database does not know.
 */
import { type Clock, type Logger, newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'

/** Generations encode the epoch and have no room for higher ones. The limit keeps a hostile host from using them up. */
const epochMax = 2_000

/** The latest watermark of the instance that a host or the object store remembers. */
export type Remembered = { epoch: number; startId: string; mark: number }

export type Lineage = {
  /** Returns the current epoch; 0 until `begin` has read the database. */
  epoch(): number
  /** Reads the epoch and records this start. Later calls return the result of the first. */
  begin(): Promise<void>
  /**
   * Increments the mark, saves it, and returns the new watermark. If the database lacks the mark that was saved last, it
   * was restored while this process ran, or a copy that lagged behind took its place: a new epoch begins.
   */
  advance(): Promise<Remembered>
  /** Returns the watermark that {@link Lineage.advance} returned last. */
  current(): Promise<Remembered>
  /** Compares a watermark that `by` remembers. If the database is older, begins a new epoch and returns true. */
  compareMark(remembered: Remembered | null, by: string): Promise<boolean>
  /** Returns when the current epoch began. Null for the first epoch, which did not begin with a restore. */
  begunAt(): Date | null
  /** Returns true if an earlier process began the operation. Its host may then know more of it than the database. */
  isInherited(operationId: string): Promise<boolean>
  /**
   * Returns true if the operation may have run during the lost time, so that its host's state may be newer. That is so if
   * it began before the current epoch. It is also assumed if an earlier process began it and its host is lost, because only
   * that host could tell.
   */
  isOfLostTime(operationId: string): Promise<boolean>
}

export function createLineage(options: { db: Db; clock: Clock; logger: Logger }): Lineage {
  const { db, clock, logger } = options
  const startId = newUuid()
  let state = { epoch: 0, begunAt: null as Date | null }
  let startedAt = clock.now()
  /** The mark that was saved last, and the epoch in which that was. */
  let mark = 0
  let markEpoch = 0
  let begun: Promise<void> | undefined

  const doBegin = async (): Promise<void> => {
    const now = clock.now()
    startedAt = now
    const row = await sql<{ epoch: number; begunAt: Date | null }>`
      select epoch, begun_at as "begunAt" from instance_epoch`.execute(db)
    if (row.rows[0]) state = row.rows[0]
    markEpoch = state.epoch
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
    // The epoch of generations and orders distinguishes everything from an earlier epoch already.
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

  /** Comparisons run one at a time, so that two hosts with newer watermarks begin one epoch and not two. */
  let looking: Promise<unknown> = Promise.resolve()
  const compareNow = async (remembered: Remembered, by: string): Promise<boolean> => {
    await begin()
    if (!(await isUnknown(remembered))) return false
    await beginEpoch(remembered)
    logger.error(
      { by, remembered, epoch: state.epoch },
      'the database was restored from a backup; a new epoch begins. Run script/admin quarantine list to see what the database does not know',
    )
    return true
  }

  const compare = (remembered: Remembered, by: string): Promise<boolean> => {
    const looked = looking.then(() => compareNow(remembered, by))
    looking = looked.catch(() => undefined)
    return looked
  }

  /** Returns false if the database lacks the mark that this process saved last. */
  const raiseMark = async (): Promise<boolean> => {
    const raised = await sql<{ mark: string }>`
      update instance_starts set mark = mark + 1 where id = ${startId} and mark >= ${mark}
      returning mark`.execute(db)
    const row = raised.rows[0]
    if (!row) return false
    mark = Number(row.mark)
    markEpoch = state.epoch
    return true
  }
  const saveStart = async (): Promise<void> => {
    await sql`insert into instance_starts (id, started_at, mark) values (${startId}, ${startedAt}, ${mark})
      on conflict (id) do update set mark = excluded.mark`.execute(db)
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
      if (!(await raiseMark())) {
        await compare({ epoch: markEpoch, startId, mark }, 'this control plane')
        await saveStart()
        await raiseMark()
      }
      return { epoch: state.epoch, startId, mark }
    },
    compareMark: async (remembered, by) => remembered !== null && compare(remembered, by),
  }
}

/** The turns of Runs: their log and what they cost. */
import { limits } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { RunText } from '../github/index.ts'

/** Returns the log of a turn from an offset on, at most about `bytesMax`. Offsets are those of whole pieces. */
export async function readLog(
  db: Db,
  runId: string,
  turn: number,
  offset: number,
  bytesMax: number,
): Promise<{ text: string; nextOffset: number; isComplete: boolean }> {
  const { rows } = await sql<{ text: string; nextOffset: number | null; logBytes: number; isEnded: boolean }>`
    with pieces as (
      select l.at_byte, l.text, l.at_byte + octet_length(l.text) as ends_at
      from run_logs l join run_turns t on t.id = l.turn_id
      where t.run_id = ${runId} and t.number = ${turn} and l.at_byte >= ${offset}
        and l.at_byte < ${offset}::bigint + ${bytesMax}::bigint)
    select coalesce((select string_agg(text, '' order by at_byte) from pieces), '') as text,
      (select max(ends_at) from pieces) as "nextOffset", t.log_bytes as "logBytes", t.ended_at is not null as "isEnded"
    from run_turns t where t.run_id = ${runId} and t.number = ${turn}`.execute(db)
  const found = rows[0]
  if (!found) return { text: '', nextOffset: offset, isComplete: true }
  const nextOffset = Number(found.nextOffset ?? Math.min(offset, found.logBytes))
  return { text: found.text, nextOffset, isComplete: found.isEnded && nextOffset >= found.logBytes }
}

/** Returns the sums over all turns. */
export async function readCost(
  db: Db,
  runId: string,
): Promise<{ turns: number; inputTokens: number; outputTokens: number; costMicroUsd: number }> {
  const { rows } = await sql<{
    turns: number
    inputTokens: number
    outputTokens: number
    costMicroUsd: number
  }>`
    select count(*)::int as turns, coalesce(sum(input_tokens), 0)::bigint as "inputTokens",
      coalesce(sum(output_tokens), 0)::bigint as "outputTokens", coalesce(sum(cost_micro_usd), 0)::bigint as "costMicroUsd"
    from run_turns where run_id = ${runId}`.execute(db)
  return rows[0]!
}

export type TurnRow = {
  id: string
  runId: string
  number: number
  actor: string
  instruction: string
  text: RunText
  hasOutsiderText: boolean
  /** What the agent claims to have done. */
  report: string | null
  logBytes: number
  sourceBytes: number
}

export async function findTurn(db: Db, runId: string, turnId: string): Promise<TurnRow | null> {
  const { rows } =
    await sql<TurnRow>`select t.id, t.run_id as "runId", t.number, t.actor, t.instruction, t.text,
      t.has_outsider_text as "hasOutsiderText", t.report, t.log_bytes as "logBytes", t.source_bytes as "sourceBytes"
    from run_turns t where t.id = ${turnId} and t.run_id = ${runId}`.execute(db)
  return rows[0] ?? null
}

/** Returns true if a machine without a Dock was made for this turn. A promotion may have made a Dock of it. */
export async function hasNewMachine(db: Db, runId: string, turnId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from run_turns
    where id = ${turnId} and run_id = ${runId} and has_new_machine`.execute(db)
  return rows.length > 0
}

/** Returns true if the agent was given text of somebody without write access: later turns leave such text out. */
export async function hadOutsiderText(db: Db, runId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from run_turns
    where run_id = ${runId} and number = 1 and not has_outsider_text`.execute(db)
  return rows.length === 0
}

/**
 * Adds output that was read from `from` on to the turn's log. Text that is not valid is replaced. What exceeds the limit is
 * dropped. Output that was added before is not added again.
 */
export async function appendLog(db: Db, turnId: string, from: number, bytes: Buffer): Promise<void> {
  const text = bytes.toString('utf8').replaceAll('\0', '\ufffd')
  await sql`
    with grown as (update run_turns t set source_bytes = ${from + bytes.length}::bigint,
        log_bytes = t.log_bytes + case when t.log_bytes < ${limits.runs.logBytesMax}::bigint then octet_length(${text}) else 0 end
      where t.id = ${turnId} and t.source_bytes <= ${from}::bigint returning t.id, t.log_bytes),
    before as (select t.log_bytes from run_turns t where t.id = ${turnId})
    insert into run_logs (turn_id, at_byte, text)
    select g.id, b.log_bytes, ${text} from grown g, before b where g.log_bytes > b.log_bytes`.execute(db)
}

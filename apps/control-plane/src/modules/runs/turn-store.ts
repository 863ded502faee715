/** The turns of Runs: their log and what they cost. */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

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

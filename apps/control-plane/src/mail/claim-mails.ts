/** Claims due mails. Each kind and destination domain is a lane. Account mails come first. */
import { sql } from 'kysely'
import { columnList } from '../database/columns.ts'
import type { Db, Row } from '../database/database.ts'
import type { Claim, ClaimRequest } from '../engine/index.ts'

/** The database computes `domain` from the recipient, so it is never null. */
export type ClaimedMail = Row<'outbox_mails'> & { domain: string }

export type MailLane = { kind: ClaimedMail['kind']; domain: string }

/** How many mails may be in flight: of one lane, and of all lanes of a kind. */
export type MailLimits = Record<'account' | 'alert', { perLane: number; total: number }>

/**
 * How long nobody else takes a claimed mail, in milliseconds. Longer than an attempt lasts. If the sender dies, the mail
 * is sent again after this time.
 */
export const leaseMs = 120_000

type WaitingLane = MailLane & { dueAt: Date }

/** Returns each lane that has waiting mails, with the time of its first. Reads one index entry for each. */
const listWaitingLanes = async (db: Db): Promise<WaitingLane[]> => {
  const { rows } = await sql<WaitingLane>`
  with recursive waiting as (
    (select kind, domain, next_attempt_at from outbox_mails where status = 'pending'
      order by kind, domain, next_attempt_at limit 1)
    union all
    select n.kind, n.domain, n.next_attempt_at from waiting w cross join lateral (
      select kind, domain, next_attempt_at from outbox_mails
      where status = 'pending' and (kind, domain) > (w.kind, w.domain)
      order by kind, domain, next_attempt_at limit 1) n)
  select kind, domain, next_attempt_at as "dueAt" from waiting`.execute(db)
  return rows
}

/** The column has microseconds, the clock milliseconds: a mail saved in this millisecond is due. */
const endOf = (now: Date): Date => new Date(now.getTime() + 1)

const takeDue = async (
  db: Db,
  shares: readonly (MailLane & { room: number })[],
  now: Date,
): Promise<ClaimedMail[]> => {
  const { rows } = await sql<ClaimedMail>`
  with due as (
    select d.id from unnest(${shares.map(({ kind }) => kind)}::text[], ${shares.map(({ domain }) => domain)}::text[],
      ${shares.map(({ room }) => room)}::int[]) l (kind, domain, room)
    cross join lateral (select id from outbox_mails
      where kind = l.kind and domain = l.domain and status = 'pending' and next_attempt_at < ${endOf(now)}
      order by next_attempt_at limit l.room for no key update skip locked) d)
  update outbox_mails m set attempts = attempts + 1, gather_key = null,
    next_attempt_at = ${new Date(now.getTime() + leaseMs)}
  from due where m.id = due.id returning ${columnList('outbox_mails', 'm')}`.execute(db)
  return rows
}

export function laneKey({ kind, domain }: MailLane): string {
  return `${kind} ${domain}`
}

/** Divides `left` over the lanes, so that those with the fewest mails in flight come first. */
const shareOut = (
  lanes: readonly WaitingLane[],
  perLane: number,
  left: number,
  inFlight: ReadonlyMap<string, number>,
): (MailLane & { room: number })[] => {
  const loadOf = (lane: MailLane): number => inFlight.get(laneKey(lane)) ?? 0
  const shares: (MailLane & { room: number })[] = []
  const open = lanes.filter((lane) => loadOf(lane) < perLane).toSorted((a, b) => loadOf(a) - loadOf(b))
  let rest = left
  for (const [index, lane] of open.entries()) {
    const fair = Math.max(1, Math.floor(rest / (open.length - index)))
    const room = Math.min(perLane - loadOf(lane), fair, rest)
    if (room <= 0) break
    rest -= room
    shares.push({ kind: lane.kind, domain: lane.domain, room })
  }
  return shares
}

/** Claims due mails, account mails first. */
export async function claimMails(
  db: Db,
  { limit, inFlight }: ClaimRequest,
  limits: MailLimits,
  now: Date,
): Promise<Claim<ClaimedMail>> {
  const waiting = await listWaitingLanes(db)
  let nextAt: Date | null = null
  for (const { dueAt } of waiting) if (dueAt > now && (!nextAt || dueAt < nextAt)) nextAt = dueAt
  const items: ClaimedMail[] = []
  for (const kind of ['account', 'alert'] as const) {
    const { perLane, total } = limits[kind]
    let load = 0
    for (const [lane, count] of inFlight) if (lane.startsWith(`${kind} `)) load += count
    const lanes = waiting.filter((lane) => lane.kind === kind && lane.dueAt <= now)
    const shares = shareOut(lanes, perLane, Math.min(limit - items.length, total - load), inFlight)
    if (shares.length > 0) items.push(...(await takeDue(db, shares, now)))
  }
  return { items, nextAt }
}

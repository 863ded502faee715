/**
 * The captures that a host keeps: what its inventory names, or what the host lists where an inventory would be too long.
 * They are judged some thousand at a time, so that no query grows with the host.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { DockReactions } from './dock-reactions.ts'
import { type HostGateway, HostUnreachable } from './host-gateway.ts'
import { unkeptCaptures } from './host-store.ts'

/** More than any host keeps, and what one host may make this process hold. */
export const capturesMax = 500_000
/** Well below the silence after which a host counts as offline: no heartbeat is read meanwhile. */
export const listTimeoutMs = 10_000
const judgedAtOnce = 5_000
/** Captures of each kind that one inventory leads to; the next goes on. */
const outcomesMax = 1_000

type Reading = {
  clock: Clock
  gateway: Pick<HostGateway, 'listCaptures' | 'hostsWithControlLink'>
  logger: Logger
}

/** Throws when the list breaks off or `signal` aborts. */
const readList = async (
  { gateway, logger }: Reading,
  hostId: string,
  signal: AbortSignal,
): Promise<string[] | null> => {
  const captures: string[] = []
  let taken = 0
  for await (const page of gateway.listCaptures(hostId, signal)) {
    // A page without a capture counts too: a hostile host may send them without end.
    taken += Math.max(page.length, 1)
    if (taken > capturesMax) {
      logger.error({ hostId, capturesMax }, 'the host lists too many captures; they are left as they are')
      return null
    }
    captures.push(...page)
  }
  return captures
}

/**
 * Returns null where the captures cannot be known now: the host lists more than {@link capturesMax}, or its list breaks
 * off or is late. They are left as they are then. Throws when the host has no link any more: its next session begins
 * with an inventory.
 */
export async function readCaptures(
  reading: Reading,
  hostId: string,
  named: readonly string[] | null,
): Promise<readonly string[] | null> {
  if (named) return named
  const { clock, gateway, logger } = reading
  const deadline = new AbortController()
  const cancel = clock.after(listTimeoutMs, () =>
    deadline.abort(new HostUnreachable(`the host did not list its captures within ${listTimeoutMs} ms`)),
  )
  try {
    return await readList(reading, hostId, deadline.signal)
  } catch (error) {
    if (!gateway.hostsWithControlLink().includes(hostId)) throw error
    const err = deadline.signal.aborted ? deadline.signal.reason : error
    logger.error({ hostId, err }, 'the host did not list its captures; they are left as they are')
    return null
  } finally {
    cancel()
  }
}

/** Captures that nothing keeps on the host: `over` can go, of the others the database knows nothing. */
export type JudgedCaptures = { over: string[]; unknown: string[] }

/** Also finds Snapshots again that were lost with the host. */
export async function judgeCaptures(
  { db, reactions }: { db: Db; reactions: Pick<DockReactions, 'completeReturnedSnapshots'> },
  hostId: string,
  captures: readonly string[],
): Promise<JudgedCaptures> {
  const judged: JudgedCaptures = { over: [], unknown: [] }
  for (let at = 0; at < captures.length; at += judgedAtOnce) {
    const some = captures.slice(at, at + judgedAtOnce)
    await reactions.completeReturnedSnapshots(hostId, some)
    for (const { id, isOver } of await unkeptCaptures(db, hostId, some)) {
      const kind = isOver ? judged.over : judged.unknown
      if (kind.length < outcomesMax) kind.push(id)
    }
  }
  return judged
}

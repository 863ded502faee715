/**
 * Finds the captures that a host keeps. The inventory contains them, unless it would be too long: then the host lists them
 * on request. They are compared with the database in batches of limited size.
 */
import type { Clock, Logger } from '@dock/foundation'
import { HostUnreachable } from '@dock/host-protocol'
import type { Db } from '../../database/database.ts'
import type { DockReactions } from './dock-reactions.ts'
import type { HostGateway } from './host-gateway.ts'
import { listUnkeptCaptures } from './host-store.ts'

/** Maximum length of a host's list. No honest host keeps more, and this limits the memory that a hostile one can use. */
export const capturesMax = 500_000
/** No heartbeat is read during the listing, so this is well below the time after which a silent host is offline. */
export const listTimeoutMs = 10_000
const judgedAtOnce = 5_000
/** Maximum of results of each kind for one inventory. The next inventory finds the rest. */
const outcomesMax = 1_000

type Reading = {
  clock: Clock
  gateway: Pick<HostGateway, 'listCaptures' | 'hostsWithControlLink'>
  logger: Logger
}

/** Returns null if the list is too long. Throws if it breaks off or `signal` aborts. */
const readList = async (
  { gateway, logger }: Reading,
  hostId: string,
  signal: AbortSignal,
): Promise<string[] | null> => {
  const captures: string[] = []
  let taken = 0
  for await (const pages of gateway.listCaptures({ hostId }, { signal })) {
    // Count what is empty too, because a hostile host could send it endlessly.
    taken += pages.reduce((sum, page) => sum + Math.max(page.captures.length, 1), pages.length === 0 ? 1 : 0)
    if (taken > capturesMax) {
      logger.error({ hostId, capturesMax }, 'the host lists too many captures; ignoring all of them')
      return null
    }
    for (const page of pages) captures.push(...page.captures)
  }
  return captures
}

/**
 * Returns null if the captures are unknown for now: the host lists more than {@link capturesMax}, or its list breaks off
 * or takes too long. The caller then changes no capture. Throws if the host has disconnected: it sends a new inventory
 * when it reconnects.
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
    logger.error({ hostId, err }, 'the host did not list its captures; they stay unchanged')
    return null
  } finally {
    cancel()
  }
}

/** Captures that nothing needs on the host: `over` can be removed, `unknown` are not in the database. */
export type JudgedCaptures = { over: string[]; unknown: string[] }

/** Also completes Snapshots that were declared lost and whose captures the host lists. */
export async function judgeCaptures(
  { db, reactions }: { db: Db; reactions: Pick<DockReactions, 'completeReturnedSnapshots'> },
  hostId: string,
  captures: readonly string[],
): Promise<JudgedCaptures> {
  const judged: JudgedCaptures = { over: [], unknown: [] }
  for (let at = 0; at < captures.length; at += judgedAtOnce) {
    const some = captures.slice(at, at + judgedAtOnce)
    await reactions.completeReturnedSnapshots(hostId, some)
    for (const { id, isOver } of await listUnkeptCaptures(db, hostId, some)) {
      const kind = isOver ? judged.over : judged.unknown
      if (kind.length < outcomesMax) kind.push(id)
    }
  }
  return judged
}

/**
 * The captures that a host keeps: what its inventory names, or what the host lists where an inventory would be too long.
 * They are judged some thousand at a time, so that no query grows with the host.
 */
import type { Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { DockReactions } from './dock-reactions.ts'
import type { HostGateway } from './host-gateway.ts'
import { unkeptCaptures } from './host-store.ts'

/** More than any host keeps, and what one host may make this process hold. */
export const capturesMax = 500_000
const judgedAtOnce = 5_000
/** Captures of each kind that one inventory leads to; the next goes on. */
const outcomesMax = 1_000

/** Returns null where the host lists more than {@link capturesMax}: its captures are left as they are then. */
export async function readCaptures(
  { gateway, logger }: { gateway: Pick<HostGateway, 'listCaptures'>; logger: Logger },
  hostId: string,
  named: readonly string[] | null,
): Promise<readonly string[] | null> {
  if (named) return named
  const captures: string[] = []
  let taken = 0
  for await (const page of gateway.listCaptures(hostId)) {
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

/** Captures that nothing keeps on the host: `over` can go, of the others the database knows nothing. */
export type JudgedCaptures = { over: string[]; unknown: string[] }

/** Also finds Snapshots again that were lost with the host. */
export async function judgeCaptures(
  { db, reactions }: { db: Db; reactions: Pick<DockReactions, 'capturesFound'> },
  hostId: string,
  captures: readonly string[],
): Promise<JudgedCaptures> {
  const judged: JudgedCaptures = { over: [], unknown: [] }
  for (let at = 0; at < captures.length; at += judgedAtOnce) {
    const some = captures.slice(at, at + judgedAtOnce)
    await reactions.capturesFound(hostId, some)
    for (const { id, isOver } of await unkeptCaptures(db, hostId, some)) {
      const kind = isOver ? judged.over : judged.unknown
      if (kind.length < outcomesMax) kind.push(id)
    }
  }
  return judged
}

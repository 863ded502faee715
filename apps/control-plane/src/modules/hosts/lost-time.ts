/**
 * Compares what hosts remember about the instance with the database, which may have been restored from an older backup. A
 * host is compared before anything is sent to it. Once per epoch its captures are compared with all earlier Snapshots. If
 * its captures are unknown, the next inventory repeats the comparison.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { HostEvent } from '@dock/host-protocol'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import {
  type Erased,
  type ErasureMacs,
  type Lineage,
  listErasures,
  recordErasures,
} from '../lineage/index.ts'
import type { DockReactions } from './dock-reactions.ts'
import type { HostGateway } from './host-gateway.ts'

type Inventory = Extract<HostEvent, { type: 'inventory' }>

const erasuresAtOnce = 1_000

export type LostTime = {
  /**
   * Compares the host with the database, including its captures unless they are null. If this throws, the caller must
   * not act on the inventory.
   */
  compareHost(
    hostId: string,
    inventory: Pick<Inventory, 'remembered'> & { captures: readonly string[] | null },
  ): Promise<void>
  /** Sends all compared hosts the current watermark and new erasures. */
  updateHosts(): Promise<void>
}

export function createLostTime(parts: {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  lineage: Lineage
  reactions: Pick<DockReactions, 'failMissingCaptures'>
  erasureMacs: ErasureMacs
  /** Repeats the erasures whose data a restore has brought back. */
  reapplyErasures(erased: readonly Erased[]): Promise<void>
}): LostTime {
  const { db, clock, logger, gateway, lineage, reactions, erasureMacs } = parts
  /** By compared host: the number of erasures sent to it in the epoch `sentIn`. */
  const compared = new Map<string, number>()
  let sentIn = 0

  /** By host: the last epoch in which this process read the erasures from it. */
  const erasuresTaken = new Map<string, number>()

  const isChecked = async (hostId: string): Promise<boolean> =>
    (await sql`select 1 from hosts where id = ${hostId} and checked_epoch >= ${lineage.epoch()}`.execute(db))
      .rows.length > 0

  const takeErasuresOf = async (hostId: string): Promise<void> => {
    const kept = await gateway.readInstanceMemory({ hostId })
    const erasures = kept.erasures.filter(erasureMacs.isOurs)
    const foreign = kept.erasures.length - erasures.length
    if (foreign > 0)
      logger.error(
        { hostId, erasures: foreign },
        'ignoring erasures of the host that have no MAC of the key ring',
      )
    await recordErasures(db, erasures, clock.now())
    // Apply all of them, because an earlier attempt may have recorded some without applying them.
    await parts.reapplyErasures(erasures)
  }

  const check = async (hostId: string, captures: readonly string[] | null): Promise<void> => {
    const epoch = lineage.epoch()
    if (erasuresTaken.get(hostId) !== epoch) await takeErasuresOf(hostId)
    erasuresTaken.set(hostId, epoch)
    const begunAt = lineage.begunAt()
    if (captures === null) {
      logger.warn(
        { hostId, epoch },
        'the captures of the host are unknown; the next inventory repeats the comparison',
      )
      return
    }
    if (begunAt) await reactions.failMissingCaptures(hostId, captures, begunAt)
    await sql`update hosts set checked_epoch = ${epoch} where id = ${hostId}`.execute(db)
  }

  const tellOne = async (
    hostId: string,
    sent: number,
    watermark: Awaited<ReturnType<Lineage['current']>>,
  ) => {
    const erasures = await listErasures(db, { offset: sent, limit: erasuresAtOnce })
    await gateway.sendInstanceMemory({ hostId }, { watermark, erasures: erasures.map(erasureMacs.signed) })
    compared.set(hostId, sent + erasures.length)
  }

  return {
    compareHost: async (hostId, { remembered = null, captures }) => {
      await lineage.begin()
      await lineage.compareMark(remembered, `host ${hostId}`)
      if (lineage.epoch() > 0 && !(await isChecked(hostId))) await check(hostId, captures)
      if (!compared.has(hostId)) compared.set(hostId, 0)
    },
    updateHosts: async () => {
      const watermark = await lineage.advance()
      // A restored database counts other erasures.
      if (watermark.epoch !== sentIn) for (const hostId of compared.keys()) compared.set(hostId, 0)
      sentIn = watermark.epoch
      const linked = new Set(gateway.hostsWithControlLink())
      const hosts = [...compared].filter(([hostId]) => linked.has(hostId))
      await Promise.all(
        hosts.map(([hostId, sent]) =>
          tellOne(hostId, sent, watermark).catch((error: unknown) =>
            logger.warn({ hostId, err: error }, 'could not send the host the watermark and erasures'),
          ),
        ),
      )
    },
  }
}

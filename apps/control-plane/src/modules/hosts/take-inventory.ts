/**
 * Handles a host's full report. Marks Docks reachable or boots them again, carries out orders that waited for the host,
 * ends sandboxes that no Dock owns, and quarantines those that the database does not know.
 */
import { type Clock, type Logger, newUuid } from '@dock/foundation'
import type { HostEvent, KeepWarmPool, WarmSandbox } from '@dock/host-protocol'
import { HostNotLinked, HostRefused } from '@dock/host-protocol'
import type { Db } from '../../database/database.ts'
import { unblockOperationsOfHost } from '../../engine/index.ts'
import type { DockReactions } from './dock-reactions.ts'
import { judgeCaptures, readCaptures } from './host-captures.ts'
import type { HostGateway } from './host-gateway.ts'
import {
  endHostOrder,
  type HostOrder,
  isStillOrdered,
  listOrderedDocks,
  listOrdersForHost,
  type OrderForHost,
  type OrderPosition,
} from './host-orders.ts'
import {
  areRepositoriesLinked,
  findUsedDockIds,
  listExpectedDocks,
  noteWarmPool,
  saveInventory,
  saveOrphans,
} from './host-store.ts'
import { type InventoryFinding, judgeInventory } from './inventory.ts'
import { keepQuarantined } from './keep-quarantined.ts'
import type { LostTime } from './lost-time.ts'
import { type FoundItem, insertFound } from './quarantine-store.ts'
import type { WarmPoolKind, WarmPools } from './warm-pools.ts'

type Inventory = Extract<HostEvent, { type: 'inventory' }>
type Orphan = Extract<InventoryFinding, { kind: 'orphan' }>

/** Orders that are read at once, and the pages of each kind tried after one inventory. The next inventory continues. */
const ordersAtOnceMax = 100
const orderPagesMax = 5

/** Until an order for a Dock is carried out, an old sandbox may run beside the new one. A capture only takes room. */
const orderKinds = { docks: ['dock', 'start'], captures: ['capture'] } as const satisfies Record<
  string,
  readonly HostOrder['kind'][]
>

export type InventoryTaker = {
  /** Updates the database from the report. Commands to the host are sent in the background, to not delay heartbeats. */
  take(hostId: string, event: Inventory): Promise<void>
  /** Resolves when all background commands have been sent. */
  settled(): Promise<void>
}

export type InventoryParts = {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  reactions: DockReactions
  warmPools: WarmPools
  lostTime: LostTime
  /** The kind of sandbox that every host keeps in its warm pool. */
  warmPoolKind: WarmPoolKind
  /** While repositories are linked, every host also keeps a few warm sandboxes of this image, for Runs. Null: none. */
  runImage: string | null
}

/** Returns the reported warm sandboxes whose id no Dock has or had. Only these may become new Docks. */
export async function listUnused(db: Db, reported: readonly WarmSandbox[]): Promise<WarmSandbox[]> {
  if (reported.length === 0) return []
  const used = await findUsedDockIds(
    db,
    reported.map(({ dockId }) => dockId),
  )
  return reported.filter(({ dockId }) => !used.has(dockId))
}

/** Taking the same inventory twice is harmless. */
export function createInventoryTaker(parts: InventoryParts): InventoryTaker {
  const { db, clock, logger, gateway, reactions, warmPools, warmPoolKind, runImage, lostTime } = parts

  const fence = async (hostId: string, orphan: Orphan): Promise<void> => {
    const { dockId, generation, way } = orphan
    logger.warn({ hostId, dockId, generation, way }, 'runtime fenced')
    const command = { operationId: 'fence', generation }
    const work =
      way === 'end'
        ? gateway.stop({ hostId, dockId }, { ...command, captureId: null })
        : gateway.destroy({ hostId, dockId }, command)
    await work.catch((error: unknown) =>
      logger.warn({ hostId, dockId, err: error }, 'fence failed; the next inventory repeats it'),
    )
  }

  /** Throws {@link HostNotLinked} if the host is not connected: it can carry out no further order either. */
  const carryOut = async (order: OrderForHost): Promise<void> => {
    const { hostId, kind, thingId, generation } = order
    if (!(await isStillOrdered(db, order))) return
    try {
      if (kind === 'capture')
        await gateway.destroyCapture({ hostId, captureId: thingId }, { operationId: 'order' })
      else {
        const keepOlder = kind === 'start' ? { keepOlder: true as const } : {}
        await gateway.destroy({ hostId, dockId: thingId }, { operationId: 'order', generation, ...keepOlder })
      }
    } catch (error) {
      if (error instanceof HostNotLinked) throw error
      // The order is settled if the object is gone or was replaced by a newer generation.
      const settled =
        error instanceof HostRefused && (error.code === 'not_found' || error.code === 'stale_generation')
      if (!settled) {
        logger.warn({ ...order, err: error }, 'order not carried out; a later inventory repeats it')
        return
      }
    }
    await endHostOrder(db, order)
    logger.info(order, 'order carried out')
  }

  /** By host and kinds: the last order that was tried. Orders that fail are tried again after all others. */
  const triedUpTo = new Map<string, OrderPosition>()

  const carryOutOrders = async (hostId: string, of: keyof typeof orderKinds): Promise<void> => {
    const key = `${hostId} ${of}`
    try {
      for (let page = 1; page <= orderPagesMax; page++) {
        const orders = await listOrdersForHost(db, hostId, {
          kinds: orderKinds[of],
          after: triedUpTo.get(key) ?? null,
          limit: ordersAtOnceMax,
        })
        for (const { createdAt, ...order } of orders) {
          await carryOut({ hostId, ...order })
          triedUpTo.set(key, { createdAt, kind: order.kind, thingId: order.thingId })
        }
        if (orders.length === ordersAtOnceMax) continue
        triedUpTo.delete(key)
        return
      }
    } catch (error) {
      logger.warn({ hostId, err: error }, 'orders not carried out; the next inventory repeats them')
    }
  }

  /** By host: the background commands of an earlier inventory. */
  const telling = new Map<string, Promise<void>>()

  const tell = async (
    hostId: string,
    pool: KeepWarmPool,
    orphans: readonly Orphan[],
    captures: readonly string[],
  ): Promise<void> => {
    await gateway
      .keepWarmPool({ hostId }, pool)
      .catch((error: unknown) =>
        logger.warn(
          { hostId, err: error },
          'could not tell the host which sandboxes to keep in its warm pool',
        ),
      )
    await carryOutOrders(hostId, 'docks')
    await keepQuarantined({ db, clock, gateway, logger }, hostId).catch((error: unknown) =>
      logger.warn({ hostId, err: error }, 'quarantine not kept; the next inventory repeats it'),
    )
    for (const orphan of orphans)
      if (orphan.way === 'end' || orphan.way === 'destroy') await fence(hostId, orphan)
    await carryOutOrders(hostId, 'captures')
    for (const captureId of captures)
      await gateway
        .destroyCapture({ hostId, captureId }, { operationId: 'fence' })
        .catch((error: unknown) => logger.warn({ hostId, captureId, err: error }, 'capture not removed'))
  }

  /** Returns what a host with these images keeps in its warm pool. */
  const poolFor = async (images: readonly string[]): Promise<KeepWarmPool> => {
    const kind = images.includes(warmPoolKind.image) ? warmPoolKind : null
    const isSecond = runImage !== null && runImage !== warmPoolKind.image && images.includes(runImage)
    return isSecond && (await areRepositoriesLinked(db))
      ? { kind, second: { ...warmPoolKind, image: runImage } }
      : { kind }
  }

  const take = async (hostId: string, event: Inventory): Promise<void> => {
    const { facts, pressure, runtimes, unidentified = [] } = event
    const now = clock.now()
    const captures = await readCaptures(parts, hostId, event.captures)
    // Do this first, because the database may know less than the host.
    await lostTime.compareHost(hostId, { remembered: event.remembered, captures })
    const running = runtimes.filter((runtime) => runtime.state === 'running').length
    // Mark the host online first, so that a Dock that becomes unreachable meanwhile is found and marked reachable below.
    const saved = await saveInventory(db, { id: hostId, facts, pressure, running, now })
    if (saved.isNewlyEmulated)
      logger.warn({ hostId }, 'microVMs are EMULATED on this host: Docks on it are many times slower')
    const warmBefore = warmPools.count(hostId)
    warmPools.report(hostId, facts.runtime, await listUnused(db, event.pool))
    if (warmPools.count(hostId) !== warmBefore) await noteWarmPool(db, hostId)
    const reported = [...runtimes.map((runtime) => runtime.dockId), ...unidentified]
    const expected = await listExpectedDocks(db, hostId, reported)
    const ordered = await listOrderedDocks(db, hostId, reported)
    const judge = (docks: typeof expected) =>
      judgeInventory({
        hostId,
        runtimes,
        expected: docks,
        ordered,
        unidentified,
        rebooted: saved.rebooted,
        now,
      })
    let findings = judge(expected)
    const ahead = findings.filter((finding) => finding.kind === 'ahead')
    if (ahead.length > 0) {
      await reactions.catchUpGenerations(
        hostId,
        ahead.map(({ dock, generation, ip }) => ({ dockId: dock.id, generation, ip })),
      )
      findings = judge(await listExpectedDocks(db, hostId, reported))
    }
    const orphans = findings.filter((finding) => finding.kind === 'orphan')
    await saveOrphans(
      db,
      hostId,
      orphans.map(({ dockId, state }) => ({ dockId, state })),
    )
    for (const finding of findings) {
      if (finding.kind === 'back') await reactions.markReachable(finding.dock.id)
      if (finding.kind === 'lost') {
        const { id: dockId, generation } = finding.dock
        await reactions.recover({ hostId, dockId, generation }, finding.died)
      }
    }
    await reactions.noteAllProcesses(
      hostId,
      runtimes.map(({ dockId, processes }) => ({ dockId, running: processes ?? 0 })),
    )
    await unblockOperationsOfHost(db, hostId, now)
    const unkept = await judgeCaptures(parts, hostId, captures ?? [])
    const unknown: FoundItem[] = [
      ...orphans
        .filter(({ way }) => way === 'quarantine')
        .map(({ dockId, generation }) => ({ kind: 'dock' as const, thingId: dockId, generation })),
      ...unkept.unknown.map((thingId) => ({ kind: 'capture' as const, thingId, generation: 0 })),
    ]
    await insertFound(db, hostId, unknown, { newId: newUuid, now })
    const pool = await poolFor(facts.images)
    // If earlier commands to this host are still being sent, the next inventory sends the rest.
    if (!telling.has(hostId)) {
      const told = tell(hostId, pool, orphans, unkept.over).finally(() => telling.delete(hostId))
      telling.set(hostId, told)
    }
  }

  return {
    take,
    settled: async () => {
      await Promise.all(telling.values())
    },
  }
}

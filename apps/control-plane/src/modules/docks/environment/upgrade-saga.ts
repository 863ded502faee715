/**
 * Moves Docks to a newer version of their Environment. A running one is given it live, one that stands still with its
 * next boot. It holds no Dock: one that boots or stops meanwhile, or cannot be reached, keeps the version that it has.
 * Only where a delivery was broken off it waits for the host to finish it: the Dock may have a part.
 */
import { isReadyDockState } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  LeaseLost,
  OperationBlocked,
  type OperationError,
  type OperationRow,
  type Saga,
} from '../../../engine/index.ts'
import type { Sealer } from '../../../sealing/index.ts'
import { type HostGateway, HostNotLinked, HostRefused, HostUnreachable } from '../../hosts/index.ts'
import { completeOperation, holdDock } from '../core/dock-commit.ts'
import { standingStates } from '../core/dock-state.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { patienceMs } from '../core/host-patience.ts'
import { createGiveVersion, type GiveVersion } from './give-version.ts'
import type { DockRepositories } from './repositories/dock-repositories.ts'
import type { BootedDock } from './repositories/passed-repositories.ts'
import {
  mayHavePart,
  type OlderDock,
  olderDocks,
  pinDock,
  type UpgradeTarget,
  upgradeData,
} from './upgrade-store.ts'
import { createFurnishing, type Launch } from './variables/furnishing.ts'

type Options = {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  owner: string
  sealer: Sealer
  launch: Launch
  repositories: DockRepositories
}

/** Docks of one upgrade that are under way at a time. */
const atOnce = 8
/** How often a Dock is read anew that changed between reading and writing. */
const attempts = 3

/** A Dock that is not to be given anything now. */
class NotReady extends Error {
  override readonly name = 'NotReady'
}
const keepsItsVersion = (error: unknown): boolean =>
  error instanceof NotReady || error instanceof HostNotLinked || error instanceof HostRefused
/** The sandbox that a part was given is gone, or goes: the next boot gives the whole of what the Dock is pinned to. */
const ended = new Set<string>(['not_running', 'stale_generation', 'not_found'])
const isOver = (error: unknown, { state }: OlderDock): boolean =>
  error instanceof NotReady ? state !== 'unreachable' : error instanceof HostRefused && ended.has(error.code)

export function createUpgradeSaga(options: Options): Saga {
  const { db, clock, logger, gateway, owner, sealer, launch, repositories } = options
  const furnish = createFurnishing({ db, sealer, launch })
  const giveVersion = createGiveVersion({ db, clock, gateway, owner, furnish })

  /** A Dock that has the version keeps it, whatever becomes of what is cloned: its next boot tries again. */
  const bringRepositories = async (operation: OperationRow, dock: BootedDock): Promise<void> => {
    try {
      await repositories.bring(operation.id, dock)
    } catch (error) {
      if (!(error instanceof HostUnreachable) && !(error instanceof HostRefused)) throw error
      const log = { operationId: operation.id, dockId: dock.dockId }
      logger.warn({ ...log, err: error }, 'a Dock misses repositories of its new version')
    }
  }

  const give: GiveVersion = async (operation, target, dock) => {
    const isPinned = await giveVersion(operation, target, dock)
    const { id: dockId, generation, hostId } = dock
    if (isPinned && hostId !== null) await bringRepositories(operation, { dockId, hostId, generation })
    return isPinned
  }

  /** False when the Dock has changed since it was read. */
  const move = async (operation: OperationRow, target: UpgradeTarget, dock: OlderDock): Promise<boolean> => {
    const isPinnedOnly = dock.noEnv && isReadyDockState(dock.state)
    if (isPinnedOnly || standingStates.includes(dock.state))
      return pinDock(db, target, dock, { isGiven: false, now: clock.now() })
    if (isReadyDockState(dock.state)) return give(operation, target, dock)
    throw new NotReady(`it is ${dock.state}`)
  }

  /** Answers the host that the Dock waits for, whose delivery was broken off. */
  const moveOrKeep = async (
    operation: OperationRow,
    target: UpgradeTarget,
    found: OlderDock,
  ): Promise<string | null> => {
    const log = { operationId: operation.id, dockId: found.id }
    let dock: OlderDock | undefined = found
    try {
      for (let attempt = 0; attempt < attempts && dock; attempt++) {
        if (await move(operation, target, dock)) return null
        dock = (await olderDocks(db, target, [found.id]))[0]
      }
      if (dock) logger.warn(log, 'a Dock keeps its older version of its Environment: it went on changing')
    } catch (error) {
      const isKnown = keepsItsVersion(error) || error instanceof HostUnreachable
      if (!isKnown) throw error
      if (dock && mayHavePart(operation, dock) && !isOver(error, dock)) return dock.hostId
      logger.warn({ ...log, err: error }, 'a Dock keeps its older version of its Environment')
    }
    return null
  }

  // Two upgrades of one Environment follow each other: of two deliveries to a Dock the newer version is the last.
  const underWay = new Map<string, Promise<void>>()
  const inTurn = async (environmentId: string, work: () => Promise<void>): Promise<void> => {
    const before = underWay.get(environmentId) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.catch(() => undefined)
    underWay.set(environmentId, settled)
    await mine.finally(() => {
      if (underWay.get(environmentId) === settled) underWay.delete(environmentId)
    })
  }

  const moveAll = async (operation: OperationRow): Promise<void> => {
    const { organizationId, targetId: environmentId } = operation
    const { version, dockIds } = upgradeData(operation)
    const target = { organizationId, environmentId, version }
    const older = await olderDocks(db, target, dockIds)
    let waitsFor: string | null = null
    const moveEach = async (docks: OlderDock[]): Promise<void> => {
      const left = [...docks]
      const work = async (): Promise<void> => {
        for (let dock = left.shift(); dock; dock = left.shift())
          waitsFor = (await moveOrKeep(operation, target, dock)) ?? waitsFor
      }
      await Promise.all(Array.from({ length: atOnce }, work))
    }
    const linked = gateway.linked()
    const isAbsent = ({ hostId }: OlderDock) => hostId !== null && !linked.includes(hostId)
    const absent = older.filter(isAbsent)
    const hosts = new Set(absent.flatMap(({ hostId }) => hostId ?? []))
    // Where the process that began this was killed, its host is back a moment after this one is up.
    const back = Promise.all([...hosts].map((hostId) => gateway.whenLinked(hostId, patienceMs)))
    await moveEach(older.filter((dock) => !isAbsent(dock)))
    await back
    const late = absent.map(({ id }) => id)
    if (late.length > 0) await moveEach(await olderDocks(db, target, late))
    if (waitsFor !== null) throw new OperationBlocked(waitsFor, 'a delivery to a Dock was broken off')
  }

  const complete = async (operation: OperationRow, error: OperationError | null): Promise<void> => {
    const done =
      await sql`with ${holdDock(null)}, gate as (${completeOperation(operation, owner, error, clock.now())})
      select id from gate`.execute(db)
    if (done.rows.length === 0) throw new LeaseLost(operation.id)
  }

  return {
    kind: 'upgrade-environment',
    explain: explainFailure,
    steps: [{ name: 'move', do: (operation) => inTurn(operation.targetId, () => moveAll(operation)) }],
    finish: (operation) => complete(operation, null),
    fail: complete,
  }
}

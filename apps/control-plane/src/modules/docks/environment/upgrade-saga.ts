/**
 * Moves Docks to a newer version of their Environment. A running Dock receives it at once, a stopped Dock at its next
 * boot. The upgrade does not lock Docks: a Dock that is booting, stopping or unreachable keeps its version. Only if
 * applying it was interrupted, and the Dock may have part of the version, the operation blocks until the host can finish it.
 */
import { isReadyDockState } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { LeaseLost, OperationBlocked, type OperationError, type Saga } from '../../../engine/index.ts'
import type { Sealer } from '../../../sealing/index.ts'
import { type HostGateway, HostNotLinked, HostRefused, HostUnreachable } from '../../hosts/index.ts'
import { completeOperation, holdDock } from '../core/dock-commit.ts'
import { statesWithoutRuntime } from '../core/dock-state.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { reconnectTimeoutMs } from '../core/retry-when-host-reconnects.ts'
import { type ApplyVersion, createApplyVersion } from './apply-version.ts'
import type { DockRepositories } from './repositories/dock-repositories.ts'
import type { BootedDock } from './repositories/repositories-to-clone.ts'
import {
  mayHavePartialVersion,
  type OlderDock,
  olderDocks,
  pinDock,
  type UpgradeData,
  type UpgradeOperation,
  type UpgradeTarget,
  upgradeData,
} from './upgrade-store.ts'
import { createPrepareApply, type PrepareApply } from './variables/prepare-apply.ts'

type Options = {
  db: Db
  clock: Clock
  logger: Logger
  gateway: HostGateway
  owner: string
  sealer: Sealer
  prepareApply: PrepareApply
  repositories: DockRepositories
}

/** Number of Docks that one upgrade moves concurrently. */
const atOnce = 8
/** Attempts for a Dock that changes between reading and writing. */
const attempts = 3

/** The Dock is in a state in which no version can be applied to it. */
class NotReady extends Error {
  override readonly name = 'NotReady'
}
const isExpectedFailure = (error: unknown): boolean =>
  error instanceof NotReady || error instanceof HostNotLinked || error instanceof HostRefused
const sandboxGone = new Set<string>(['not_running', 'stale_generation', 'not_found'])
/**
 * True if the sandbox with part of a version has ended or is ending. The Dock's next boot applies its pinned version
 * completely, so the upgrade need not wait.
 */
const isPartDiscarded = (error: unknown, { state }: OlderDock): boolean =>
  error instanceof NotReady
    ? state !== 'unreachable'
    : error instanceof HostRefused && sandboxGone.has(error.code)

export function createUpgradeSaga(options: Options): Saga<UpgradeData> {
  const { db, clock, logger, gateway, owner, sealer, repositories } = options
  const prepareApply = createPrepareApply({ db, sealer, prepareApply: options.prepareApply })
  const applyVersion = createApplyVersion({ db, clock, gateway, owner, prepareApply })

  /** Clones new repositories. A failure does not undo the upgrade: the Dock's next boot tries again. */
  const bringRepositories = async (operation: UpgradeOperation, dock: BootedDock): Promise<void> => {
    try {
      await repositories.cloneAndSetUp(operation.id, dock)
    } catch (error) {
      if (!(error instanceof HostUnreachable) && !(error instanceof HostRefused)) throw error
      const log = { operationId: operation.id, dockId: dock.dockId }
      logger.warn(
        { ...log, err: error },
        'cloning repositories of the new Environment version failed; the next boot of the Dock retries',
      )
    }
  }

  const give: ApplyVersion = async (operation, target, dock) => {
    const isPinned = await applyVersion(operation, target, dock)
    const { id: dockId, generation, hostId } = dock
    if (isPinned && hostId !== null) await bringRepositories(operation, { dockId, hostId, generation })
    return isPinned
  }

  /** Returns false if the Dock has changed since it was read. */
  const move = async (
    operation: UpgradeOperation,
    target: UpgradeTarget,
    dock: OlderDock,
  ): Promise<boolean> => {
    const isPinnedOnly = dock.noEnv && isReadyDockState(dock.state)
    if (isPinnedOnly || statesWithoutRuntime.includes(dock.state))
      return pinDock(db, target, dock, { isGiven: false, now: clock.now() })
    if (isReadyDockState(dock.state)) return give(operation, target, dock)
    throw new NotReady(`the Dock is ${dock.state}`)
  }

  /** Moves a Dock. Returns the host to wait for if applying was interrupted, otherwise null. */
  const moveOrKeep = async (
    operation: UpgradeOperation,
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
      if (dock) logger.warn(log, 'the Dock keeps its older Environment version: it kept changing')
    } catch (error) {
      const isKnown = isExpectedFailure(error) || error instanceof HostUnreachable
      if (!isKnown) throw error
      if (dock && mayHavePartialVersion(operation, dock) && !isPartDiscarded(error, dock)) return dock.hostId
      logger.warn({ ...log, err: error }, 'the Dock keeps its older Environment version')
    }
    return null
  }

  // Upgrades of the same Environment run one after the other, so that a Dock receives the newer version last.
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

  const moveAll = async (operation: UpgradeOperation): Promise<void> => {
    const { organizationId, targetId: environmentId } = operation
    const { version, dockIds } = operation.data
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
    const linked = gateway.hostsWithControlLink()
    const isAbsent = ({ hostId }: OlderDock) => hostId !== null && !linked.includes(hostId)
    const absent = older.filter(isAbsent)
    const hosts = new Set(absent.flatMap(({ hostId }) => hostId ?? []))
    // After a restart of this process, hosts reconnect a moment later. Docks on absent hosts are therefore moved last.
    const back = Promise.all(
      [...hosts].map((hostId) => gateway.waitForControlLink(hostId, reconnectTimeoutMs)),
    )
    await moveEach(older.filter((dock) => !isAbsent(dock)))
    await back
    const late = absent.map(({ id }) => id)
    if (late.length > 0) await moveEach(await olderDocks(db, target, late))
    if (waitsFor !== null)
      throw new OperationBlocked(waitsFor, 'the Environment could not be applied to a Dock')
  }

  const complete = async (operation: UpgradeOperation, error: OperationError | null): Promise<void> => {
    const done =
      await sql`with ${holdDock(null)}, gate as (${completeOperation(operation, owner, error, clock.now())})
      select id from gate`.execute(db)
    if (done.rows.length === 0) throw new LeaseLost(operation.id)
  }

  return {
    kind: 'upgrade-environment',
    data: upgradeData,
    explain: explainFailure,
    steps: [{ name: 'move', do: (operation) => inTurn(operation.targetId, () => moveAll(operation)) }],
    finish: (operation) => complete(operation, null),
    fail: complete,
  }
}

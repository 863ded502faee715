/**
 * Boots a Dock. `create`, `branch`, `resume` and `recover` share this saga; they differ in the disk's source and in what
 * happens on failure. The host creates disk, network and sandbox in one command, and cleans up after its own failures.
 */
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { OperationRow, Saga, SagaStep } from '../../../engine/index.ts'
import type { Sealer } from '../../../sealing/index.ts'
import {
  type HostGateway,
  HostRefused,
  HostUnreachable,
  type PlacementPolicy,
  type StartFailures,
  saveHostOrders,
} from '../../hosts/index.ts'
import { commitDock } from '../core/dock-commit.ts'
import type { DockMove } from '../core/dock-state.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { blockIfInherited, type LostTimeParts } from '../core/lost-time.ts'
import { isGenerationAbsent } from '../core/remove-from-host.ts'
import { retryWhenHostReconnects } from '../core/retry-when-host-reconnects.ts'
import { sizeAfterBoot } from '../core/size-after-boot.ts'
import type { TtlClock } from '../core/ttl-clock.ts'
import type { DockRepositories } from '../environment/repositories/dock-repositories.ts'
import {
  createRepositorySteps,
  movesToReady,
  setupAfterStart,
} from '../environment/repositories/repository-steps.ts'
import { createPrepareApply, type PrepareApply } from '../environment/variables/prepare-apply.ts'
import { insertSetup } from '../setup/setup-saga.ts'
import { bootWithRetries } from './boot-with-retries.ts'
import { createBranchSource } from './branch-source.ts'
import { isFaultOfHost, moveStart } from './move-start.ts'
import { heldAlerts, recoveredAlerts } from './recovery-alerts.ts'
import {
  type BranchData,
  branchData,
  hostOf,
  type StartData,
  type StartOperation,
  type StartResult,
  startData,
} from './start-data.ts'

type Options = {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  policy: PlacementPolicy
  startFailures: StartFailures
  sealer: Sealer
  ttl: Pick<TtlClock, 'note'>
  /** Makes sure that the host has the Snapshot's capture; restores it from its copy if necessary. */
  ensureCapture(snapshotId: string, hostId: string, isMissing?: boolean): Promise<void>
  /** Sends a missing image to the host. Throws `base_image_unavailable` if the image is not available. */
  ensureImage(image: string, hostId: string): Promise<void>
  /** Returns what the Environment passes to the Dock. */
  prepareApply: PrepareApply
  repositories: DockRepositories
  origins: LostTimeParts['origins']
}

type StartSaga = Saga<StartData, StartResult>

/** Refusals that a host gives only after it has checked that it has no later generation of the Dock. */
const provesNoLaterBoot = new Set<string>(['no_space', 'not_found'])

/** Returns false if the host could not be reached. A Dock that is absent on the host counts as undone. */
const undoOnHost = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof HostUnreachable) return false
    if (isGenerationAbsent(error)) return true
    throw error
  }
}

/** Assignment that restores the ttl from before a failed resume, unless somebody has changed it since. */
const ttlBefore = ({ givenTtl, ttlSeconds }: NonNullable<StartData['before']>): RawBuilder<unknown> =>
  givenTtl === undefined
    ? sql``
    : sql`ttl_seconds = case when d.ttl_seconds is not distinct from ${givenTtl}::int then ${ttlSeconds}::int
        else d.ttl_seconds end,`

export function createStartSagas(options: Options): Saga[] {
  const {
    db,
    clock,
    gateway,
    owner,
    sealer,
    ttl,
    ensureCapture,
    ensureImage,
    repositories,
    startFailures,
    origins,
  } = options
  const source = createBranchSource(options)
  const prepareApply = createPrepareApply({ db, sealer, prepareApply: options.prepareApply })
  const repositorySteps = createRepositorySteps({ db, clock, repositories })
  /** Restores a capture that the host should have but lacks from its copy. Throws `missing` if there is no copy. */
  const bringCapture = async (captureId: string, hostId: string, missing: unknown): Promise<void> => {
    try {
      await ensureCapture(captureId, hostId, true)
    } catch (error) {
      throw error instanceof HostUnreachable || error instanceof HostRefused ? error : missing
    }
  }

  /** Boots the Dock on its host. Returns what the next steps need to know. */
  const startOnHost = async (
    operation: OperationRow<StartData>,
  ): Promise<Pick<StartData, 'ip' | 'repositories'>> => {
    const { data } = operation
    const hostId = hostOf(operation)
    const { id: operationId, generation } = operation
    const { targetId: dockId, organizationId } = operation
    const [given, hasRepositories] = data.unfurnished
      ? [{ env: {} }, false]
      : await Promise.all([
          prepareApply({ organizationId, dockId }),
          repositories.any({ dockId, hostId, generation }),
        ])
    const { source: from } = data.command
    const order = () =>
      gateway.start(
        { hostId, dockId },
        { ...data.command, operationId, generation, organizationId, ...given },
      )
    const start = () =>
      order().catch(async (error: unknown) => {
        const lacksSource = error instanceof HostRefused && error.code === 'not_found'
        if (from.kind === 'own' || !lacksSource) throw error
        if (from.kind === 'image') await ensureImage(from.image, hostId)
        else await bringCapture(from.captureId, hostId, error)
        return order()
      })
    // The Dock was placed on a host without the capture, so the capture is restored from its copy first.
    if (from.kind === 'capture' && data.captureHost !== undefined && data.captureHost !== hostId)
      await ensureCapture(from.captureId, hostId)
    const started = await (data.recovery
      ? bootWithRetries(hostId, data.recovery, start)
      : retryWhenHostReconnects(gateway, hostId, start))
    return hasRepositories ? { ip: started.ip, repositories: {} } : { ip: started.ip }
  }

  /** Moves a start that failed to another host and boots the Dock there. Throws `error` if it must not or cannot move. */
  const startElsewhere = async (
    operation: OperationRow<StartData>,
    error: unknown,
  ): ReturnType<typeof startOnHost> => {
    const { data } = operation
    await blockIfInherited(options, operation, hostOf(operation), error)
    if (await origins.isOfLostTime(operation.id)) {
      // The host may run a later boot that the restored database does not know, so no other host may start the Dock.
      data.hasNotGoneOn = error instanceof HostRefused && provesNoLaterBoot.has(error.code)
      throw error
    }
    if (!isFaultOfHost(error)) throw error
    startFailures.recordFailure(hostOf(operation))
    const mayMove = operation.kind === 'create' || operation.kind === 'resume'
    if (!mayMove || data.movedFrom !== undefined) throw error
    if (!(await moveStart(options, operation, data.command.source, clock.now()))) throw error
    return startOnHost(operation)
  }

  const boot: SagaStep<StartData> = {
    name: 'boot',
    do: async (operation) => {
      const booted = await startOnHost(operation).catch((error: unknown) => startElsewhere(operation, error))
      startFailures.forgetFailure(hostOf(operation))
      operation.data = { ...operation.data, ...booted }
    },
    undo: async (operation) => {
      if (await origins.isOfLostTime(operation.id)) return
      const hostId = hostOf(operation)
      const body = { operationId: operation.id, generation: operation.generation }
      const { targetId, generation } = operation
      // A recovery's disk is the only copy of the Dock's data, so the undo only stops the sandbox and keeps the disk. If
      // the host is unreachable, its runtime is fenced when it returns.
      if (operation.kind === 'recover')
        await undoOnHost(gateway.stop({ hostId, dockId: targetId }, { ...body, captureId: null }))
      else if (
        !(await undoOnHost(gateway.destroy({ hostId, dockId: targetId }, { ...body, keepOlder: true })))
      ) {
        // Only the host's next report tells if the database was restored, so the undo is retried after it.
        if (await origins.isInherited(operation.id)) throw new HostUnreachable('the host is unreachable')
        operation.data.orders = [{ hostId, kind: 'start', thingId: targetId, generation }]
      }
    },
  }

  const finish = async (operation: StartOperation): Promise<void> => {
    const { data } = operation
    const now = clock.now()
    const { recovery } = data
    const isNew = operation.kind === 'create' || operation.kind === 'branch'
    // The Dock's setup script may need the repositories, so it does not run if any of them failed.
    const runsSetup = data.setup === true && !data.repositories?.failed
    const boots = sql`, ready_at = ${now}, active_at = ${now},
      stop_at = ${now}::timestamptz + make_interval(secs => d.ttl_seconds)`
    const dock = await commitDock(db, {
      dockId: operation.targetId,
      generation: operation.generation,
      moves: [...movesToReady(data.repositories)],
      cause: operation.cause,
      now,
      // A recovery keeps the ttl and the setup status of the previous boot.
      set: sql`ip = ${data.ip ?? null}, has_disk = true
        ${recovery ? sql`` : boots}
        ${setupAfterStart(data.repositories, isNew, runsSetup)}`,
      also: [
        ...recoveredAlerts(operation, recovery, now),
        ...(runsSetup ? [insertSetup(operation, now)] : []),
      ],
      ...(data.event ? { event: data.event } : {}),
      complete: { operation, owner, error: null },
    })
    operation.result = dock
    // After a recovery the stop time may already have passed, so the ttl clock looks at once.
    if (dock && dock.ttlSeconds !== null)
      ttl.note(recovery ? now : new Date(now.getTime() + dock.ttlSeconds * 1000))
  }

  const fail: StartSaga['fail'] = async (operation, error) => {
    await source.release(operation, error)
    // The host may keep a later state of the Dock than the restored database knows. The Dock keeps that disk in state
    // `error`, so that its owner can stop and resume it.
    const ofLostTime = !operation.data.hasNotGoneOn && (await origins.isOfLostTime(operation.id))
    const resumed = operation.kind === 'resume' && !ofLostTime
    const from = operation.data.repositories?.cloning ? 'cloning' : 'provisioning'
    const move: DockMove = resumed
      ? { from, to: 'archived', why: 'resume_failed' }
      : {
          from,
          to: 'error',
          why: operation.kind === 'recover' ? 'lost_for_good' : 'start_failed',
        }
    const { recovery, before } = operation.data
    const asBefore =
      before &&
      !ofLostTime &&
      sql`, disk_gib = ${before.diskGiB}, ${ttlBefore(before)} environment = ${before.environment},
        environment_id = (select e.id from environments e where e.id = ${before.environmentId}), environment_version = ${before.environmentVersion}, no_env = ${before.noEnv},
        env_passes = ${before.envPasses}, marks = ${before.marks}::uuid[], ${sizeAfterBoot}`
    const keepsDisk = recovery?.held !== 'disk_gone' && (ofLostTime || recovery !== undefined)
    const now = clock.now()
    await commitDock(db, {
      dockId: operation.targetId,
      generation: operation.generation,
      moves: [move],
      cause: operation.cause,
      details: recovery ? { held: recovery.held ?? 'would_not_start' } : {},
      now,
      also: [
        ...heldAlerts(operation, recovery, now),
        sql`ordered as (${saveHostOrders(operation.data.orders ?? [], now, sql`select 1 from gate`)})`,
      ],
      set: sql`ip = null, stop_at = null, ready_at = null, has_disk = ${keepsDisk} ${keepsDisk ? sql`` : sql`, host_id = null`} ${asBefore || sql``}`,
      release: !(ofLostTime && keepsDisk),
      // A resume that failed leaves the Dock archived, which is no error.
      ...(move.to === 'error' ? { event: 'dock.error' as const } : {}),
      complete: { operation, owner, error },
    })
  }

  const steps = [boot, ...repositorySteps]
  const ends = { finish, fail, explain: explainFailure }
  const branch: Saga<BranchData, StartResult> = {
    kind: 'branch',
    data: branchData,
    steps: [source.capture, ...steps],
    ...ends,
  }
  const others = ['create', 'resume', 'recover'].map(
    (kind): StartSaga => ({ kind, data: startData, steps, ...ends }),
  )
  return [...others, branch]
}

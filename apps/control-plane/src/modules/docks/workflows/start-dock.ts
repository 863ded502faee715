/**
 * Brings a Dock up: `create`, `branch`, `resume` and `recover` are one saga with different sources and different ends
 * of a failure. The host makes disk, network and sandbox in one command and undoes its own half-made parts.
 */
import type { WebhookEventType } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { OperationRow, Saga, SagaStep } from '../../../engine/index.ts'
import type { Sealer } from '../../../sealing/index.ts'
import {
  type HostGateway,
  HostRefused,
  HostUnreachable,
  type OrderForHost,
  type PlacementPolicy,
  type StartDock,
  type StartFailures,
  saveHostOrders,
} from '../../hosts/index.ts'
import type { DockRow } from '../dock.ts'
import { afterHeld, commitDock, holdDock } from '../dock-commit.ts'
import type { DockMove } from '../dock-state.ts'
import type { DockPassing } from '../dock-store.ts'
import type { Recovery } from '../recovery/recovery.ts'
import { heldAlerts, recoveredAlerts } from '../recovery/recovery-alerts.ts'
import { bootPatiently } from '../recovery/recovery-boot.ts'
import type { DockRepositories } from '../repositories/dock-repositories.ts'
import {
  createRepositorySteps,
  movesToReady,
  type RepositoriesProgress,
  setupAfterStart,
} from '../repositories/repository-steps.ts'
import { insertSetup } from '../setup/setup-dock.ts'
import type { TtlClock } from '../ttl-clock.ts'
import { createFurnishing, type Launch } from '../variables/furnishing.ts'
import { explainFailure } from './explain-failure.ts'
import { whileHostReturns } from './host-patience.ts'
import { isFaultOfHost, moveStart } from './move-start.ts'
import { sizeAfterBoot } from './size-after-boot.ts'

/** What a start keeps in its operation's row. */
export type StartData = {
  command: Omit<StartDock, 'operationId' | 'generation' | 'env' | 'files'>
  event: WebhookEventType | null
  /** Known to get nothing, and to have had nothing, from an Environment or its creator: nothing is looked for. */
  unfurnished?: boolean
  /** The Environment passes repositories on; and what became of them. */
  repositories?: RepositoriesProgress
  /** A setup script runs once the Dock is ready. */
  setup?: boolean
  /** Of a resume: what the row read before, for one that fails. */
  before?: Pick<
    DockRow,
    'diskGiB' | 'ttlSeconds' | 'environment' | 'environmentId' | 'environmentVersion' | 'noEnv'
  > &
    DockPassing & {
      /** The ttl that the resume gave, if it gave one. */
      givenTtl?: number | null
    }
  /** The host that kept the capture when the start was ordered; null: only its copy was left. */
  captureHost?: string | null
  /** Of a boot after a loss. */
  recovery?: Recovery
  /** The Dock whose disk a branch copies, and what holds it meanwhile. */
  /** The host on which the start failed before; it is tried on one other only. */
  movedFrom?: string
  source?: {
    dockId: string
    generation: number
    snapshotId: string
    /** The source runs, and is captured first. */
    live: boolean
    operationId: string
    sizeBytes?: number
  }
  ip?: string
  /** What hosts could not be told of a start that is undone. */
  orders?: OrderForHost[]
}

/** The host that placement chose: only the row knows it from the first moment. */
const hostOf = (operation: OperationRow): string => {
  if (operation.hostId === null) throw new Error(`operation ${operation.id} has no host`)
  return operation.hostId
}

export const startData = (operation: OperationRow): StartData => operation.data as unknown as StartData

type Options = {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  policy: PlacementPolicy
  startFailures: StartFailures
  sealer: Sealer
  ttl: Pick<TtlClock, 'note'>
  /** Sees to it that a host keeps a Snapshot's capture. */
  ensureCapture(snapshotId: string, hostId: string, isMissing?: boolean): Promise<void>
  /** Gives a host an image that it lacks. Throws `base_image_unavailable` when it cannot be had. */
  ensureImage(image: string, hostId: string): Promise<void>
  /** What the Dock is given from its Environment. */
  launch: Launch
  repositories: DockRepositories
}

/** Whether the undo of a start reached its host; what is not there is undone. */
const isUndone = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof HostUnreachable) return false
    if (error instanceof HostRefused && error.code === 'not_found') return true
    throw error
  }
}

/** A ttl that the resume gave is taken back, but not one that was set since. */
const ttlBefore = ({ givenTtl, ttlSeconds }: NonNullable<StartData['before']>): RawBuilder<unknown> =>
  givenTtl === undefined
    ? sql``
    : sql`ttl_seconds = case when d.ttl_seconds is not distinct from ${givenTtl}::int then ${ttlSeconds}::int
        else d.ttl_seconds end,`

export const createStartSagas = (options: Options): Saga[] => {
  const {
    db,
    clock,
    gateway,
    owner,
    sealer,
    ttl,
    ensureCapture,
    ensureImage,
    launch,
    repositories,
    startFailures,
  } = options
  const furnish = createFurnishing({ db, sealer, launch })
  const repositorySteps = createRepositorySteps({ db, clock, repositories })
  const capture: SagaStep = {
    name: 'capture',
    do: async (operation) => {
      const data = startData(operation)
      const source = data.source!
      if (source.live) {
        const body = {
          operationId: operation.id,
          generation: source.generation,
          captureId: source.snapshotId,
        }
        const hostId = hostOf(operation)
        const capture = () => gateway.capture(hostId, source.dockId, body)
        source.sizeBytes = (await whileHostReturns(gateway, hostId, capture)).sizeBytes
      }
      await releaseSource(operation, null)
    },
  }

  /** Ends the hold on a branch's source, with its Snapshot completed or failed. */
  const releaseSource = async (
    operation: OperationRow,
    failure: { code: string; message: string } | null,
  ) => {
    const source = startData(operation).source
    if (!source) return
    const now = clock.now()
    const size = source.sizeBytes ?? 0
    // A capture that failed may be there all the same.
    const leftovers: OrderForHost[] =
      failure && source.live && operation.hostId !== null
        ? [{ hostId: operation.hostId, kind: 'capture', thingId: source.snapshotId, generation: 0 }]
        : []
    await sql`
      with ${holdDock(source.dockId)}, done as (update operations set status = 'completed', updated_at = ${now},
        error = ${failure && JSON.stringify(failure)}::jsonb
        where id = ${source.operationId} and driven and status <> 'completed' and ${afterHeld} returning id),
      snap as (update snapshots set status = ${failure ? 'failed' : 'completed'}, size_bytes = ${size}
        where id = ${source.snapshotId} and status = 'saving' and exists (select 1 from done) returning id),
      ordered as (${saveHostOrders(leftovers, now, sql`select 1 from snap`)}),
      -- An upgrade may have given the source files since the branch was claimed: what the capture may hold, it says.
      marked as (update docks b set marks = array(select distinct unnest(b.marks || s.marks)) from docks s
        where b.id = ${operation.targetId} and s.id = ${source.dockId} and ${source.live && !failure})
      update docks set last_snapshot_at = ${now}, billing_paused_at = null, updated_at = ${now}
      where id = ${source.dockId} and ${source.live && !failure} and exists (select 1 from done)`.execute(db)
  }

  /** The host lacks a capture that it should have: its copy is restored. Throws `missing` where there is no copy. */
  const bringCapture = async (captureId: string, hostId: string, missing: unknown): Promise<void> => {
    try {
      await ensureCapture(captureId, hostId, true)
    } catch (error) {
      throw error instanceof HostUnreachable || error instanceof HostRefused ? error : missing
    }
  }

  const startOn = async (hostId: string, operation: OperationRow): Promise<void> => {
    const data = startData(operation)
    const { id: operationId, generation } = operation
    const { targetId: dockId, organizationId } = operation
    const [given, hasRepositories] = data.unfurnished
      ? [{ env: {} }, false]
      : await Promise.all([
          furnish({ organizationId, dockId }),
          repositories.any({ dockId, hostId, generation }),
        ])
    if (hasRepositories) data.repositories = {}
    const { source } = data.command
    const order = () =>
      gateway.start(hostId, dockId, { ...data.command, operationId, generation, organizationId, ...given })
    const start = () =>
      order().catch(async (error: unknown) => {
        const lacksSource = error instanceof HostRefused && error.code === 'not_found'
        if (source.kind === 'own' || !lacksSource) throw error
        if (source.kind === 'image') await ensureImage(source.image, hostId)
        else await bringCapture(source.captureId, hostId, error)
        return order()
      })
    // Placed where the capture is not: it comes from its copy first.
    if (source.kind === 'capture' && data.captureHost !== undefined && data.captureHost !== hostId)
      await ensureCapture(source.captureId, hostId)
    const started = await (data.recovery
      ? bootPatiently(hostId, data.recovery, start)
      : whileHostReturns(gateway, hostId, start))
    data.ip = started.ip
  }

  const boot: SagaStep = {
    name: 'boot',
    do: async (operation) => {
      try {
        await startOn(hostOf(operation), operation)
      } catch (error) {
        if (!isFaultOfHost(error)) throw error
        startFailures.failed(hostOf(operation))
        const data = startData(operation)
        const mayMove = operation.kind === 'create' || operation.kind === 'resume'
        if (!mayMove || data.movedFrom !== undefined) throw error
        if (!(await moveStart(options, operation, data.command.source, clock.now()))) throw error
        await startOn(hostOf(operation), operation)
      }
      startFailures.succeeded(hostOf(operation))
    },
    undo: async (operation) => {
      const hostId = hostOf(operation)
      const body = { operationId: operation.id, generation: operation.generation }
      const { targetId, generation } = operation
      // A recovery's disk is the only one there is: it is kept. A host that returns with its runtime is told to end it.
      if (operation.kind === 'recover')
        await isUndone(gateway.stop(hostId, targetId, { ...body, captureId: null }))
      else if (!(await isUndone(gateway.destroy(hostId, targetId, body))))
        startData(operation).orders = [{ hostId, kind: 'dock', thingId: targetId, generation }]
    },
  }

  const finish = async (operation: OperationRow): Promise<void> => {
    const data = startData(operation)
    const now = clock.now()
    const { recovery } = data
    const newBorn = operation.kind === 'create' || operation.kind === 'branch'
    // Without all repositories the Dock's own script does not run: it may need them.
    const runsSetup = data.setup === true && !data.repositories?.failed
    const boots = sql`, ready_at = ${now}, active_at = ${now},
      stop_at = ${now}::timestamptz + make_interval(secs => d.ttl_seconds)`
    const dock = await commitDock(db, {
      dockId: operation.targetId,
      generation: operation.generation,
      moves: [...movesToReady(data.repositories)],
      cause: operation.cause,
      now,
      // A recovery boot goes on with the ttl and the setup of the boot before.
      set: sql`ip = ${data.ip ?? null}, has_disk = true
        ${recovery ? sql`` : boots}
        ${setupAfterStart(data.repositories, newBorn, runsSetup)}`,
      also: [
        ...recoveredAlerts(operation, recovery, now),
        ...(runsSetup ? [insertSetup(operation.cause, now)] : []),
      ],
      ...(data.event ? { event: data.event } : {}),
      complete: { operation, owner, error: null },
    })
    operation.result = dock
    // After a loss the moment may have passed meanwhile.
    if (dock && dock.ttlSeconds !== null)
      ttl.note(recovery ? now : new Date(now.getTime() + dock.ttlSeconds * 1000))
  }

  const fail: Saga['fail'] = async (operation, error) => {
    await releaseSource(operation, error)
    const resumed = operation.kind === 'resume'
    const from = startData(operation).repositories?.cloning ? 'cloning' : 'provisioning'
    const move: DockMove = resumed
      ? { from, to: 'archived', why: 'resume_failed' }
      : {
          from,
          to: 'error',
          why: operation.kind === 'recover' ? 'lost_for_good' : 'start_failed',
        }
    const { recovery, before } = startData(operation)
    const asBefore =
      before &&
      sql`, disk_gib = ${before.diskGiB}, ${ttlBefore(before)} environment = ${before.environment},
        environment_id = ${before.environmentId}, environment_version = ${before.environmentVersion}, no_env = ${before.noEnv},
        env_passes = ${before.envPasses}, marks = ${before.marks}::uuid[], ${sizeAfterBoot}`
    const keepsDisk = recovery !== undefined && recovery.held !== 'disk_gone'
    const now = clock.now()
    await commitDock(db, {
      dockId: operation.targetId,
      generation: operation.generation,
      moves: [move],
      cause: operation.cause,
      now,
      also: [
        ...heldAlerts(operation, recovery, now),
        sql`ordered as (${saveHostOrders(startData(operation).orders ?? [], now, sql`select 1 from gate`)})`,
      ],
      set: sql`ip = null, stop_at = null, ready_at = null, has_disk = ${keepsDisk} ${keepsDisk ? sql`` : sql`, host_id = null`} ${asBefore ?? sql``}`,
      release: true,
      ...(operation.kind === 'create' || operation.kind === 'branch' ? { event: 'dock.error' as const } : {}),
      complete: { operation, owner, error },
    })
  }

  const saga = (kind: string, steps: readonly SagaStep[]): Saga => ({
    kind,
    steps,
    finish,
    fail,
    explain: explainFailure,
  })
  return [
    saga('create', [boot, ...repositorySteps]),
    saga('branch', [capture, boot, ...repositorySteps]),
    saga('resume', [boot, ...repositorySteps]),
    saga('recover', [boot, ...repositorySteps]),
  ]
}

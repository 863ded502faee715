/** POST /v1/docks/:id/resume */
import { type ErrorCode, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { waitAtMost } from '@dock/foundation'
import { sql } from 'kysely'
import type { OperationRow } from '../../../engine/index.ts'
import type { Visitor } from '../../accounts/index.ts'
import { diskBytesOf, nextGeneration, throwNoPlacement } from '../../hosts/index.ts'
import { claimDock } from '../core/dock-claim.ts'
import { hostnameOf } from '../core/dock-name.ts'
import { findDock } from '../core/dock-store.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { latestSnapshot, placementForSnapshot } from '../core/kept-snapshot.ts'
import { notResumable } from '../core/not-bootable.ts'
import { requireMaySetTtl } from '../core/retention-gate.ts'
import { causedBy, type DockContext, newDockOperation, quotaOf, requireDock } from '../dock-context.ts'
import { rebindDock } from '../environment/rebind-dock.ts'
import type { DockStateAnswer } from '../stop/stop-dock.ts'
import type { StartData } from './start-data.ts'

const answerWithinMs = 30_000

/** Retries if the Dock changes between reading and claiming, for example by an upgrade of its Environment. */
const attempts = 3

type ResumeBody = RouteBody<(typeof routes)['resumeDock']>

/** Boots an archived Dock from its latest Snapshot. Returns when it is ready, or after 30 s with its current state. */
export async function resumeDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ResumeBody,
): Promise<DockStateAnswer> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const claimed = await claimResume(context, caller, id, body)
    if (claimed) return runWithTimeout(context, claimed)
  }
  throw new ServiceError('dock_busy')
}

/** Saves the intent. Returns null if the Dock has changed since it was read. */
const claimResume = async (
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ResumeBody,
): Promise<OperationRow | null> => {
  const { db, clock, runner } = context
  const dock = await requireDock(context, caller, id)
  const { organizationId } = dock
  // Before the state: what the caller may do does not depend on whether its Snapshot was just wiped.
  requireSecretsAccess(dock)
  await requireMaySetTtl(context, caller, dock, body.ttlSeconds)
  const snapshot = dock.state === 'archived' ? await latestSnapshot(db, organizationId, id) : null
  if (!snapshot) throw notResumable(dock)
  const noEnv = body.noEnv ?? (body.environment === undefined ? dock.noEnv : false)
  const bound = await rebindDock(context, caller, dock, body.environment, noEnv)
  const size = {
    cpus: body.cpus ?? dock.cpus,
    memoryMiB: body.memoryMiB ?? dock.memoryMiB,
    diskGiB: body.diskGiB ?? dock.diskGiB,
  }
  if (diskBytesOf(size.diskGiB) < snapshot.sizeBytes)
    throw new ServiceError('validation_error', { message: 'diskGiB: too small for the data on the Dock.' })
  const ttlSeconds = body.ttlSeconds === undefined ? dock.ttlSeconds : body.ttlSeconds
  const generation = nextGeneration(dock.generation, context.epoch())
  const hostId = snapshot.hostId
  const data: StartData = {
    dataVersion: 1,
    command: {
      hostname: hostnameOf(dock.name),
      ...size,
      source: { kind: 'capture', captureId: snapshot.id },
      newIdentity: false,
    },
    event: 'dock.hydrated',
    captureHost: hostId,
    before: {
      diskGiB: dock.diskGiB,
      ttlSeconds: dock.ttlSeconds,
      environment: dock.environment,
      environmentId: dock.environmentId,
      environmentVersion: dock.environmentVersion,
      noEnv: dock.noEnv,
      ...(body.ttlSeconds === undefined ? {} : { givenTtl: body.ttlSeconds }),
      ...bound.before,
    },
  }
  const cause = causedBy(caller, 'resume')
  const operation = newDockOperation({
    kind: 'resume',
    organizationId,
    dockId: id,
    hostId,
    generation,
    cause,
    data,
  })
  const request = {
    ...size,
    ...placementForSnapshot(snapshot, undefined),
    linked: context.gateway.hostsWithControlLink(),
    avoid: context.startFailures.hostsToAvoid(),
  }
  const claimed = await claimDock(db, {
    dock,
    operation,
    moves: [{ from: 'archived', to: 'provisioning', why: 'resume' }],
    set: sql`generation = ${generation}, cpus = ${size.cpus}, memory_mib = ${size.memoryMiB},
        kept_cpus = ${body.cpus === undefined ? null : dock.cpus},
        kept_memory_mib = ${body.memoryMiB === undefined ? null : dock.memoryMiB},
        disk_gib = ${size.diskGiB}, ttl_seconds = ${ttlSeconds}, no_env = ${noEnv}, ${bound.set}`,
    unless: sql<boolean>`(${bound.unless} or d.name <> ${dock.name}
        or d.ttl_seconds is distinct from ${dock.ttlSeconds}::int
        or (d.cpus, d.memory_mib, d.disk_gib) <> (${dock.cpus}::int, ${dock.memoryMiB}::int, ${dock.diskGiB}::int))`,
    placement: { request, policy: context.policy, quota: quotaOf(context, organizationId) },
    lease: runner.lease(),
    now: clock.now(),
  })
  if (claimed === 'no_host') return throwNoPlacement(db, request, context.catalog)
  return claimed === 'claimed' ? operation : null
}

const runWithTimeout = async (context: DockContext, operation: OperationRow): Promise<DockStateAnswer> => {
  const { db, clock, runner } = context
  const { organizationId, targetId: id } = operation
  const error = await waitAtMost(clock, answerWithinMs, runner.run(operation))
  if (error === 'late') {
    const current = await findDock(db, organizationId, id)
    return { id, state: current?.state ?? 'provisioning' }
  }
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  return { id, state: 'ready' }
}

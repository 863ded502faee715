/** POST /v1/docks/:id/resume */
import { type ErrorCode, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import { explainNoPlacement } from '../../hosts/index.ts'
import type { VisibleDock } from '../dock.ts'
import { claimDock } from '../dock-claim.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import { hostnameOf } from '../dock-name.ts'
import { findDock, marksOfDock, readCreateContext } from '../dock-store.ts'
import { marksOf, requireLaunch, requireSecretsAccess } from '../environment/environment-gate.ts'
import { latestSnapshot, placedWith } from '../kept-snapshot.ts'
import { withinPlan } from '../plans/plan-gate.ts'
import type { StartData } from '../workflows/start-dock.ts'
import type { DockStateAnswer } from './stop-dock.ts'

const gibibyte = 1024 ** 3
const answerWithinMs = 30_000

/** Boots an archived Dock from its latest Snapshot; answers when ready, or after 30 s with the state as it is. */
export const resumeDock = async (
  context: DockContext,
  caller: Visitor,
  id: string,
  body: RouteBody<(typeof routes)['resumeDock']>,
): Promise<DockStateAnswer> => {
  const { db, clock, runner } = context
  const dock = await requireDock(context, caller, id)
  const { organizationId } = dock
  if (dock.state === 'provisioning') throw new ServiceError('dock_busy')
  const snapshot = dock.state === 'archived' ? await latestSnapshot(db, organizationId, id) : null
  if (!snapshot) throw new ServiceError('conflict')
  const noEnv = body.noEnv ?? (body.environment === undefined ? dock.noEnv : false)
  const bound = await rebind(context, caller, dock, body.environment, noEnv)
  const size = {
    cpus: body.cpus ?? dock.cpus,
    memoryMiB: body.memoryMiB ?? dock.memoryMiB,
    diskGiB: body.diskGiB ?? dock.diskGiB,
  }
  if (size.diskGiB * gibibyte < snapshot.sizeBytes)
    throw new ServiceError('validation_error', { message: 'diskGiB: below the data that the Dock holds.' })
  const ttlSeconds = body.ttlSeconds === undefined ? dock.ttlSeconds : body.ttlSeconds
  const generation = dock.generation + 1
  const hostId = snapshot.hostId
  const data: StartData = {
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
  const request = { ...size, ...placedWith(snapshot), linked: context.gateway.linked() }
  const claimed = await withinPlan(context, organizationId, (tx) =>
    claimDock(tx, {
      dock,
      operation,
      move: { from: 'archived', to: 'provisioning', why: 'resume' },
      set: sql`generation = ${generation}, cpus = ${size.cpus}, memory_mib = ${size.memoryMiB},
        kept_cpus = ${body.cpus === undefined ? null : dock.cpus},
        kept_memory_mib = ${body.memoryMiB === undefined ? null : dock.memoryMiB},
        disk_gib = ${size.diskGiB}, ttl_seconds = ${ttlSeconds}, no_env = ${noEnv}, ${bound}`,
      placement: { request, policy: context.policy },
      lease: runner.lease(),
      now: clock.now(),
    }),
  )
  if (claimed === 'no_host') return explainNoPlacement(db, request, context.catalog)
  if (claimed === 'changed') throw new ServiceError('dock_busy')
  let cancel: () => void = () => undefined
  const late = new Promise<'late'>((resolve) => {
    cancel = clock.after(answerWithinMs, () => resolve('late'))
  })
  const error = await Promise.race([runner.run(operation), late]).finally(cancel)
  if (error === 'late') {
    const current = await findDock(db, organizationId, id)
    return { id, state: current?.state ?? 'provisioning' }
  }
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  return { id, state: 'ready' }
}

/**
 * Columns that bind the Dock for this boot: to the Environment that is named, at its current version; otherwise to the
 * one that it has, at the version that it is pinned to, or to the default when that is deleted. Throws what
 * {@link requireLaunch} throws, and `environment_not_found`.
 */
const rebind = async (
  context: DockContext,
  caller: Visitor,
  dock: VisibleDock,
  reference: string | undefined,
  noEnv: boolean,
): Promise<RawBuilder<unknown>> => {
  requireSecretsAccess(dock)
  const found = await readCreateContext(context.db, {
    userId: caller.userId,
    workspaceId: dock.workspaceId,
    environment: reference ?? dock.environmentId,
    key: null,
    keysSince: context.clock.now(),
  })
  const binding = found?.binding
  if (!binding) throw new ServiceError('environment_not_found')
  requireLaunch(binding, dock.role, noEnv)
  const keepsVersion = reference === undefined && dock.environmentId !== null
  const version = keepsVersion ? dock.environmentVersion : binding.environmentVersion
  return sql`environment = ${binding.environment}, environment_id = ${binding.environmentId},
    environment_version = ${version}, env_passes = ${binding.envPasses && !noEnv},
    marks = ${marksOf(binding, noEnv, await marksOfDock(context.db, dock.id))}::uuid[]`
}

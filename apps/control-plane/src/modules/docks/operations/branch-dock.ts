/** POST /v1/docks/:id/branch */
import { type Dock, isReadyDockState, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../../accounts/index.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import { findDock, latestSnapshot, readCreateContext } from '../dock-store.ts'
import { viewDock } from '../dock-view.ts'
import { fingerprintOf, keysSince, replayedDock } from '../idempotency.ts'
import { claimAndStart } from '../workflows/claim-start.ts'
import type { StartData } from '../workflows/start-dock.ts'

/** Copies a Dock: a running one is captured live, an archived one is copied from its latest Snapshot. */
export const branchDock = async (
  context: DockContext,
  caller: Visitor,
  sourceId: string,
  body: RouteBody<(typeof routes)['branchDock']>,
  key: string | undefined,
): Promise<Dock> => {
  if (Object.keys(body.env ?? {}).length > 0)
    throw new ServiceError('not_implemented', { message: 'env is not built yet.' })
  const { db } = context
  const source = await requireDock(context, caller, sourceId)
  const { organizationId, workspaceId, generation } = source
  const since = keysSince(context.clock.now())
  const lookup = () =>
    readCreateContext(db, {
      userId: caller.userId,
      workspaceId,
      environment: body.environment ?? source.environment,
      key: key ?? null,
      keysSince: since,
    })
  const fingerprint = fingerprintOf(`branchDock ${sourceId}`, body)
  const known = await lookup()
  if (!known) throw new ServiceError('dock_not_found')
  const replay = async (id: string | null): Promise<Dock | null> => {
    if (id === null) return null
    const dock = await findDock(db, organizationId, id)
    if (!dock) throw new ServiceError('dock_not_found')
    return viewDock(dock)
  }
  const earlier = await replay(replayedDock(known, fingerprint))
  if (earlier) return earlier
  const { environment } = known
  if (environment === null) throw new ServiceError('environment_not_found')
  if (body.image !== undefined && body.image !== source.image) {
    const catalog = new Set([...context.catalog, ...(await context.images())])
    throw catalog.has(body.image)
      ? new ServiceError('validation_error', { message: "image: must be the source's image." })
      : new ServiceError('image_unknown')
  }

  const live = isReadyDockState(source.state)
  const kept = source.state === 'archived' ? await latestSnapshot(db, organizationId, sourceId) : null
  const hostId = live ? source.hostId : kept?.hostId
  if (!hostId) throw new ServiceError('conflict')
  const size = {
    cpus: body.cpus ?? source.cpus,
    memoryMiB: body.memoryMiB ?? source.memoryMiB,
    diskGiB: body.diskGiB ?? source.diskGiB,
  }
  if (size.diskGiB < (kept?.diskGiB ?? source.diskGiB))
    throw new ServiceError('validation_error', { message: "diskGiB: below the size of the source's disk." })
  const snapshotId = kept?.id ?? newUuid()
  const cause = causedBy(caller, 'branch')
  const hold = newDockOperation({
    kind: 'branch-source',
    organizationId,
    dockId: sourceId,
    hostId,
    generation,
    cause,
    data: {},
  })
  const data: StartData = {
    command: { hostname: '', ...size, source: { kind: 'capture', captureId: snapshotId }, newIdentity: true },
    ttlSeconds: body.ttlSeconds,
    event: 'dock.ready',
    source: { dockId: sourceId, generation, snapshotId, live, operationId: hold.id },
  }
  const dock = await claimAndStart(context, null, (id) => ({
    dock: {
      id,
      organizationId,
      workspaceId,
      name: body.name ?? null,
      image: source.image,
      ...size,
      ttlSeconds: body.ttlSeconds,
      environment,
      noEnv: body.noEnv ?? source.noEnv,
      fromTemplate: source.fromTemplate,
      createdBy: caller.userId,
    },
    operation: newDockOperation({
      kind: 'branch',
      organizationId,
      dockId: id,
      hostId,
      generation: 1,
      cause,
      data,
    }),
    why: 'branch',
    key: key === undefined ? null : { key, fingerprint, keysSince: since },
    placement: { ...size, image: null, only: hostId, linked: context.gateway.linked() },
    source: {
      operation: hold,
      state: source.state,
      snapshot: live
        ? { id: snapshotId, dockId: sourceId, hostId, diskGiB: source.diskGiB, runtime: source.runtime }
        : null,
    },
  }))
  if (dock) return dock
  const taken = await lookup()
  const first = taken && (await replay(replayedDock(taken, fingerprint)))
  if (!first) throw new ServiceError('idempotency_in_progress')
  return first
}

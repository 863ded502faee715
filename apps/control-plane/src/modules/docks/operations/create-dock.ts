/** POST /v1/docks */
import { type Dock, type RouteBody, type routes, ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { causedBy, type DockContext, newDockOperation } from '../dock-context.ts'
import { findDock, readCreateContext } from '../dock-store.ts'
import { viewDock } from '../dock-view.ts'
import { fingerprintOf, keysSince, replayedDock } from '../idempotency.ts'
import { claimAndStart } from '../workflows/claim-start.ts'
import type { StartData } from '../workflows/start-dock.ts'

export type CreateDockBody = RouteBody<(typeof routes)['createDock']>

/** Creates a Dock and answers it once it is ready; with a key, once for all callers of that key. */
export const createDock = async (
  context: DockContext,
  caller: Visitor,
  body: CreateDockBody,
  key: string | undefined,
): Promise<Dock> => {
  if (body.setupScript !== undefined || body.from !== undefined || Object.keys(body.env ?? {}).length > 0)
    throw new ServiceError('not_implemented', { message: 'env, setupScript and from are not built yet.' })
  const since = keysSince(context.clock.now())
  const lookup = () =>
    readCreateContext(context.db, {
      userId: caller.userId,
      workspaceId: body.workspaceId,
      environment: body.environment ?? null,
      key: key ?? null,
      keysSince: since,
    })
  const fingerprint = fingerprintOf('createDock', body)
  const known = caller.admit(await lookup())
  const { organizationId } = known
  const replay = async (id: string | null): Promise<Dock | null> => {
    if (id === null) return null
    const dock = await findDock(context.db, organizationId, id)
    if (!dock) throw new ServiceError('dock_not_found')
    return viewDock(dock)
  }
  const earlier = await replay(replayedDock(known, fingerprint))
  if (earlier) return earlier
  const { environment } = known
  if (environment === null) throw new ServiceError('environment_not_found')

  const image = body.image ?? context.defaultImage
  const size = { cpus: body.cpus, memoryMiB: body.memoryMiB, diskGiB: body.diskGiB }
  const data: StartData = {
    command: { hostname: '', ...size, source: { kind: 'image', image }, newIdentity: false },
    ttlSeconds: body.ttlSeconds,
    event: 'dock.ready',
  }
  const dock = await claimAndStart(context, { image, ...size }, (id) => ({
    dock: {
      id,
      organizationId,
      workspaceId: body.workspaceId,
      name: body.name ?? null,
      image,
      ...size,
      ttlSeconds: body.ttlSeconds,
      environment,
      noEnv: body.noEnv,
      fromTemplate: null,
      createdBy: caller.userId,
    },
    operation: newDockOperation({
      kind: 'create',
      organizationId,
      dockId: id,
      hostId: null,
      generation: 1,
      cause: causedBy(caller, 'create'),
      data,
    }),
    why: 'create',
    key: key === undefined ? null : { key, fingerprint, keysSince: since },
    placement: { ...size, image, only: null, linked: context.gateway.linked() },
  }))
  if (dock) return dock
  const taken = await lookup()
  const first = taken && (await replay(replayedDock(taken, fingerprint)))
  if (!first) throw new ServiceError('idempotency_in_progress')
  return first
}

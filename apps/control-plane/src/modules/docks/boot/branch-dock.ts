/** POST /v1/docks/:id/branch */
import {
  type Dock,
  isReadyDockState,
  type RouteBody,
  type RuntimeName,
  type routes,
  ServiceError,
} from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { EmptyData } from '../../../engine/index.ts'
import type { Visitor } from '../../accounts/index.ts'
import { diskBytesOf } from '../../hosts/index.ts'
import type { DockRow, VisibleDock } from '../core/dock.ts'
import {
  type CreateContext,
  findDockOfKey,
  findPassing,
  findVisibleDock,
  readCreateContext,
} from '../core/dock-store.ts'
import { marksOf, requireLaunch, requireSecretsAccess } from '../core/environment-gate.ts'
import { type KeptSnapshot, latestSnapshot, placementForSnapshot } from '../core/kept-snapshot.ts'
import { notCopyable } from '../core/not-bootable.ts'
import { causedBy, type DockContext, newDockOperation } from '../dock-context.ts'
import { mergeVariables, openVariables } from '../environment/variables/dock-variables.ts'
import { viewDock } from '../view/dock-view.ts'
import { claimAndStart, type DockPlan } from './claim-start.ts'
import { requireSameImage } from './create-from.ts'
import { fingerprintOf, keysSince, makeDockOnce } from './idempotency.ts'

/** The body of the request and, from its header, the runtime that it asks for. */
type BranchBody = RouteBody<(typeof routes)['branchDock']> & { runtime?: RuntimeName | undefined }

/** Copies a Dock. A ready source is captured while it runs; an archived source is copied from its latest Snapshot. */
export async function branchDock(
  context: DockContext,
  caller: Visitor,
  sourceId: string,
  body: BranchBody,
  key: string | undefined,
): Promise<Dock> {
  const { db } = context
  const since = keysSince(context.clock.now())
  const fingerprint = fingerprintOf(context.fingerprintKey, `branchDock ${sourceId}`, body)
  const found = await findVisibleDock(db, caller.userId, sourceId)
  if (!found && key !== undefined) {
    // The source was deleted. A retry still finds the copy: the fingerprint contains the source's id.
    const copy = await findDockOfKey(db, { userId: caller.userId, key, keysSince: since, fingerprint })
    return viewFinishedBranch(caller.admit(copy))
  }
  const source = caller.admit(found)
  const { workspaceId } = source
  const lookup = () =>
    readCreateContext(db, {
      userId: caller.userId,
      workspaceId,
      environment: body.environment ?? source.environmentId,
      key: key ?? null,
      keysSince: since,
    })
  const known = await lookup()
  if (!known) throw new ServiceError('dock_not_found')
  return makeDockOnce(context, { known, fingerprint, lookup }, async () => {
    const plan = await planBranch(context, caller, source, known, body)
    const keyToSave = key === undefined ? null : { key, fingerprint, keysSince: since }
    return claimAndStart(context, { ...plan, key: keyToSave }, null)
  })
}

/** Decides what the copy is. Throws the refusals that need no claim. */
const planBranch = async (
  context: DockContext,
  caller: Visitor,
  source: VisibleDock,
  { role, binding }: CreateContext,
  body: BranchBody,
): Promise<Omit<DockPlan, 'key'>> => {
  const { id: sourceId, organizationId, generation } = source
  requireSecretsAccess(source)
  if (binding === null) throw new ServiceError('environment_not_found')
  const noEnv = body.noEnv ?? source.noEnv
  requireLaunch(binding, role, noEnv)
  const marks = marksOf(binding, noEnv, (await findPassing(context.db, sourceId)).marks)
  await requireSameImage(context, source.image, body.image, "image: must be the source's image.")
  const disk = await diskOf(context, source)
  const size = {
    cpus: body.cpus ?? source.cpus,
    memoryMiB: body.memoryMiB ?? source.memoryMiB,
    diskGiB: body.diskGiB ?? source.diskGiB,
  }
  if (disk.bytes !== null && diskBytesOf(size.diskGiB) < disk.bytes)
    throw new ServiceError('validation_error', {
      message: 'diskGiB: too small for the data on the source Dock.',
    })
  const own = await openVariables(context, { organizationId, dockId: sourceId })
  const variables = mergeVariables(own, body.env ?? {})
  const { hostId, live } = disk
  const cause = causedBy(caller, 'branch')
  const hold = newDockOperation<EmptyData>({
    kind: 'branch-source',
    organizationId,
    dockId: sourceId,
    hostId,
    generation,
    cause,
    data: { dataVersion: 1 },
  })
  const snapshotId = disk.snapshotId ?? newUuid()
  return {
    why: 'branch',
    cause,
    name: body.name ?? null,
    variables,
    setupScript: undefined,
    dock: {
      organizationId,
      workspaceId: source.workspaceId,
      image: source.image,
      ...size,
      ttlSeconds: body.ttlSeconds,
      environment: binding.environment,
      environmentId: binding.environmentId,
      environmentVersion: binding.environmentVersion,
      envPasses: binding.envPasses && !noEnv,
      marks,
      noEnv,
      fromTemplate: source.fromTemplate,
      createdBy: caller.userId,
    },
    start: {
      dataVersion: 1,
      command: { ...size, source: { kind: 'capture', captureId: snapshotId }, newIdentity: true },
      event: 'dock.ready',
      captureHost: hostId,
      source: { dockId: sourceId, generation, snapshotId, live, operationId: hold.id },
    },
    placement: { ...size, ...placementForSnapshot(disk, body.runtime) },
    source: {
      operation: hold,
      state: source.state,
      snapshot:
        live && hostId !== null
          ? { id: snapshotId, dockId: sourceId, hostId, diskGiB: source.diskGiB, runtime: source.runtime }
          : null,
    },
  }
}

const viewFinishedBranch = (copy: DockRow & { isBeingMade: boolean }): Dock => {
  if (copy.isBeingMade) throw new ServiceError('idempotency_in_progress')
  return viewDock(copy)
}

/** What the branch copies: the disk of a ready Dock (`live`), or the latest Snapshot of an archived Dock. */
type SourceDisk = Pick<KeptSnapshot, 'hostId' | 'copied' | 'runtime'> & {
  live: boolean
  snapshotId: string | null
  bytes: number | null
}

const diskOf = async ({ db, usage }: DockContext, source: DockRow): Promise<SourceDisk> => {
  const live = isReadyDockState(source.state)
  const { hostId, runtime } = source
  if (live && hostId !== null) {
    // From the last sample. The host rejects the size if the Dock has written more since.
    const bytes = usage.last(source.id, source.generation)?.diskBytes ?? null
    return { hostId, runtime, copied: false, live, snapshotId: null, bytes }
  }
  const kept = source.state === 'archived' ? await latestSnapshot(db, source.organizationId, source.id) : null
  if (!kept) throw notCopyable(source)
  return { ...kept, live: false, snapshotId: kept.id, bytes: kept.sizeBytes }
}

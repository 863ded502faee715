/** What a new Dock's disk is created from: an image, or a Template's Snapshot. */
import { type Role, type RuntimeName, roleReaches, ServiceError } from '@dock/contract'
import { type PlacementRequest, runtimesFor, type StartDock } from '../../hosts/index.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { placementForSnapshot } from '../core/kept-snapshot.ts'
import type { DockContext } from '../dock-context.ts'

export type Origin = {
  image: string
  /** Size of the disk that is copied. A request that names no size gets at least this one. */
  diskGiB: number
  /** Size of the data on it. */
  bytes: number
  command: Pick<StartDock, 'source' | 'newIdentity'>
  placement: Pick<PlacementRequest, 'image' | 'only' | 'prefer' | 'runtimes'>
  captureHost?: string | null
  /** Ids of the Environments whose files may be on the disk. */
  marks: readonly string[]
}

export function fromImage(image: string, asked: RuntimeName | undefined): Origin {
  return {
    image,
    diskGiB: 0,
    bytes: 0,
    command: { source: { kind: 'image', image }, newIdentity: false },
    placement: { image, only: null, runtimes: runtimesFor(null, asked) },
    marks: [],
  }
}

/** Throws `image_unknown`, or `validation_error` with this message, if the request names another image than it may. */
export async function requireSameImage(
  context: Pick<DockContext, 'catalog' | 'images'>,
  own: string,
  image: string | undefined,
  message: string,
): Promise<void> {
  if (image === undefined || image === own) return
  const isKnown = context.catalog.includes(image) || (await context.images()).includes(image)
  throw isKnown ? new ServiceError('validation_error', { message }) : new ServiceError('image_unknown')
}

/**
 * Throws `template_not_found`, `template_source_missing`, `connector_admin_only`, `environment_secrets_admin_only`, and
 * `image_unknown` or `validation_error` if `image` or `runtime` are not the Template's.
 */
export async function fromTemplate(
  context: DockContext,
  tenant: { organizationId: string; role: Role },
  wanted: { name: string; image: string | undefined; runtime: RuntimeName | undefined },
): Promise<Origin> {
  const template = await context.template(tenant.organizationId, wanted.name)
  if (!template) throw new ServiceError('template_not_found')
  if ((template.connectors || template.sourceDockId === null) && !roleReaches(tenant.role, 'admin'))
    throw new ServiceError('connector_admin_only')
  requireSecretsAccess({ ...template, role: tenant.role })
  await requireSameImage(
    context,
    template.image,
    wanted.image,
    "image: must be the Template's image. Omit it to use that image.",
  )
  const { snapshotId, hostId, diskGiB, sizeBytes } = template
  if (snapshotId === null) throw new ServiceError('template_source_missing')
  return {
    image: template.image,
    diskGiB,
    bytes: sizeBytes,
    command: { source: { kind: 'capture', captureId: snapshotId }, newIdentity: true },
    placement: placementForSnapshot(template, wanted.runtime),
    captureHost: hostId,
    marks: template.marks,
  }
}

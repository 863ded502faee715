/** POST /v1/templates */
import {
  errorCodes,
  isReadyDockState,
  type RouteBody,
  type routes,
  ServiceError,
  type Template,
} from '@dock/contract'
import { isUuid, newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import {
  causedBy,
  claimDock,
  latestSnapshot,
  moved,
  newDockOperation,
  notCopyable,
  requireDock,
} from '../docks/index.ts'
import { insertSavingSnapshot } from '../storage/index.ts'
import type { TemplateContext } from './template-context.ts'
import type { SaveData } from './template-saga.ts'
import { findSavingRefusal, findTemplate, insertTemplate } from './template-store.ts'
import { viewTemplate } from './template-view.ts'

export type TemplateGates = {
  /** Returns true if zero data retention is on in the organization. */
  retentionEnabled(organizationId: string): Promise<boolean>
  /** Returns true if the Dock's Environment gives it connectors. */
  hasConnectors(dockId: string): Promise<boolean>
}

/** The route has no code for a busy Dock. Nearly always the Dock is being saved under another name. */
const busyDock = (cause?: unknown): ServiceError =>
  new ServiceError('conflict', { message: errorCodes.dock_busy.message, cause })

/** Returns true if the insert failed because the archived Dock's Snapshot was deleted since it was read. */
const isSnapshotGone = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'templates_snapshot_id_fkey'

/**
 * Creates a Template of a Dock. A running Dock is captured; for an archived Dock the latest Snapshot is used. Returns once
 * the Template is ready. Until then an existing Template of that name remains in use.
 */
export async function createTemplate(
  context: TemplateContext,
  gates: TemplateGates,
  caller: Visitor,
  body: RouteBody<(typeof routes)['createTemplate']>,
): Promise<Template> {
  const { db, clock, runner } = context
  const dock = await requireDock(context, caller, isUuid(body.dockId) ? body.dockId : newUuid())
  const { organizationId, generation } = dock
  if (await gates.retentionEnabled(organizationId)) throw new ServiceError('zdr_blocks_templates')
  if (dock.state === 'error' || dock.state === 'unreachable') throw new ServiceError('dock_not_running')
  const live = isReadyDockState(dock.state)
  const kept = dock.state === 'archived' ? await latestSnapshot(db, organizationId, dock.id) : null
  if (!live && !kept) throw notCopyable(dock)

  const now = clock.now()
  const snapshotId = kept?.id ?? newUuid()
  const templateId = newUuid()
  const data: SaveData = { dataVersion: 1, templateId, name: body.name, snapshotId, live }
  const operation = newDockOperation({
    kind: 'save-template',
    organizationId,
    dockId: dock.id,
    hostId: live ? dock.hostId : null,
    generation,
    cause: causedBy(caller, 'template'),
    data,
  })
  const template = insertTemplate({
    id: templateId,
    organizationId,
    name: body.name,
    sourceDockId: dock.id,
    snapshotId,
    image: dock.image,
    diskGiB: kept?.diskGiB ?? dock.diskGiB,
    runtime: kept?.runtime ?? dock.runtime,
    connectors: await gates.hasConnectors(dock.id),
    createdBy: caller.userId,
    now,
  })
  // The Template refers to this Snapshot in the same statement. PostgreSQL checks foreign keys at the end of a statement.
  const saving = sql`snap as (${insertSavingSnapshot(snapshotId, moved, now)})`
  const claimed = await withTransaction(db, async (tx) => {
    const refusal = await findSavingRefusal(tx, organizationId, body.name, context.limits)
    if (refusal) throw new ServiceError(refusal)
    return claimDock(tx, {
      dock,
      operation,
      moves: [],
      lease: runner.lease(),
      now,
      also: live ? [saving, template] : [template],
    })
  }).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === 'dock_busy') throw busyDock(error)
    throw isSnapshotGone(error) ? new ServiceError('conflict', { cause: error }) : error
  })
  if (claimed !== 'claimed') throw busyDock()
  const error = await runner.run(operation)
  if (error) throw new ServiceError('service_unavailable', { message: error.message })
  const saved = await findTemplate(db, organizationId, templateId)
  if (saved?.status !== 'ready') throw new ServiceError('service_unavailable')
  return viewTemplate(saved)
}

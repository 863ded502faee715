/** PATCH /v1/docks/:id */
import { type Dock, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type Tx, withTransaction } from '../../../database/database.ts'
import type { Visitor } from '../../accounts/index.ts'
import { changesOf, recordAudit } from '../../audit/index.ts'
import { diskBytesOf } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { claimError } from '../core/dock-claim.ts'
import { dockColumns } from '../core/dock-store.ts'
import { latestSnapshot } from '../core/kept-snapshot.ts'
import { requireMaySetTtl } from '../core/retention-gate.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { viewDock } from './dock-view.ts'

type UpdateBody = RouteBody<(typeof routes)['updateDock']>

/**
 * Renames a Dock, sets its ttl, or resizes it. The ttl counts from when the Dock became ready; if it has already run out,
 * the Dock stops at once. Only an archived Dock can be resized.
 */
export async function updateDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: UpdateBody,
): Promise<Dock> {
  const dock = await requireDock(context, caller, id)
  const { cpus, memoryMiB, diskGiB, ttlSeconds } = body
  await requireMaySetTtl(context, caller, dock, ttlSeconds)
  const resizes = cpus !== undefined || memoryMiB !== undefined || diskGiB !== undefined
  if (resizes && dock.state !== 'archived') throw notStopped()
  if (diskGiB !== undefined) await requireDataFits(context, dock, diskGiB)
  const now = context.clock.now()
  const change = async (tx: Tx) => {
    const { rows } = await sql<DockRow & { stopAt: Date | null }>`
      update docks d set updated_at = ${now}, name = coalesce(${body.name ?? null}::text, d.name),
        cpus = coalesce(${cpus ?? null}::int, d.cpus), memory_mib = coalesce(${memoryMiB ?? null}::int, d.memory_mib),
        disk_gib = coalesce(${diskGiB ?? null}::int, d.disk_gib)
        ${
          ttlSeconds === undefined
            ? sql``
            : sql`, ttl_seconds = ${ttlSeconds}, stop_at = d.ready_at + make_interval(secs => ${ttlSeconds}::int)`
        }
      where id = ${id} and organization_id = ${dock.organizationId} and (not ${resizes}::boolean or state = 'archived')
      returning ${dockColumns}, d.stop_at as "stopAt"`.execute(tx)
    return rows[0]
  }
  try {
    const row = await withTransaction(context.db, async (tx) => {
      const changed = await change(tx)
      const details = changed && changesOf(changeable(dock), changeable(changed))
      if (details)
        await recordAudit(tx, caller, {
          action: 'dock.updated',
          now,
          organizationId: dock.organizationId,
          target: { type: 'dock', id, name: changed.name },
          details,
        })
      return changed
    })
    // It was resumed, or deleted, a moment ago.
    if (!row) throw notStopped()
    if (ttlSeconds !== undefined && row.stopAt) context.ttl.note(row.stopAt)
    return viewDock(row)
  } catch (error) {
    throw claimError(error)
  }
}

/** The fields of a Dock of which the audit log tells the old and the new value. */
const changeable = ({ name, cpus, memoryMiB, diskGiB, ttlSeconds }: DockRow) => {
  return { name, cpus, memoryMiB, diskGiB, ttlSeconds }
}

const notStopped = (): ServiceError =>
  new ServiceError('conflict', {
    message: 'The size can be changed only while the Dock is stopped. Stop the Dock first.',
  })

/** The disk is resized at the next resume. A size that cannot work is refused already now. */
const requireDataFits = async ({ db }: DockContext, dock: DockRow, diskGiB: number): Promise<void> => {
  const kept = await latestSnapshot(db, dock.organizationId, dock.id)
  if (kept && diskBytesOf(diskGiB) < kept.sizeBytes)
    throw new ServiceError('conflict', { message: 'diskGiB: too small for the data on the Dock.' })
}

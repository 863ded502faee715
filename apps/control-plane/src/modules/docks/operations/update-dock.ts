/** PATCH /v1/docks/:id */
import { type Dock, isReadyDockState, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import type { DockRow } from '../dock.ts'
import { claimError } from '../dock-claim.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { dockColumns } from '../dock-store.ts'
import { viewDock } from '../dock-view.ts'

/** Renames, sets the ttl (counted from ready; one that has run out stops the Dock now), resizes while archived. */
export const updateDock = async (
  context: DockContext,
  caller: Visitor,
  id: string,
  body: RouteBody<(typeof routes)['updateDock']>,
): Promise<Dock> => {
  const dock = await requireDock(context, caller, id)
  const resizes = body.cpus !== undefined || body.memoryMiB !== undefined || body.diskGiB !== undefined
  if (resizes && dock.state !== 'archived')
    throw new ServiceError('conflict', {
      message: 'The size can be changed only while the Dock is archived.',
    })
  if (body.diskGiB !== undefined && body.diskGiB < dock.diskGiB)
    throw new ServiceError('conflict', { message: 'diskGiB: a disk can only grow.' })
  const ttl = body.ttlSeconds
  const now = context.clock.now()
  const counted = ttl !== undefined && ttl !== null && isReadyDockState(dock.state)
  try {
    const result = await sql<DockRow>`
      update docks d set updated_at = ${now}, name = ${body.name ?? dock.name}, cpus = ${body.cpus ?? dock.cpus},
        memory_mib = ${body.memoryMiB ?? dock.memoryMiB}, disk_gib = ${body.diskGiB ?? dock.diskGiB}
        ${
          ttl === undefined
            ? sql``
            : sql`, ttl_seconds = ${ttl}, stop_at = ${
                counted ? sql`state_changed_at + make_interval(secs => ${ttl})` : null
              }`
        }
      where id = ${id} and organization_id = ${dock.organizationId} and (not ${resizes}::boolean or state = 'archived')
      returning ${dockColumns}`.execute(context.db)
    const row = result.rows[0]
    if (!row) throw new ServiceError('conflict')
    return viewDock(row)
  } catch (error) {
    throw claimError(error)
  }
}

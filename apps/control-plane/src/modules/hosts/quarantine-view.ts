/** GET /api/dashboard/quarantine */
import type { QuarantineList } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { isUndecided, listQuarantineRows, type Quarantined } from './quarantine-store.ts'

const shownMax = 200

const view = (item: Quarantined): QuarantineList['items'] =>
  item.state === 'found' || item.state === 'held'
    ? [
        {
          id: item.id,
          hostId: item.hostId,
          kind: item.kind,
          state: item.state,
          dockId: item.dockId,
          organizationId: item.organizationId,
          hostname: item.note?.hostname ?? null,
          sizeBytes: item.sizeBytes,
          firstSeenAt: item.firstSeenAt.toISOString(),
        },
      ]
    : []

/** Returns the items that wait for a decision, oldest first. */
export async function listQuarantine(db: Db): Promise<QuarantineList> {
  const rows = await listQuarantineRows(db, { all: false, limit: shownMax + 1 })
  return {
    items: rows.filter(isUndecided).slice(0, shownMax).flatMap(view),
    hasMore: rows.length > shownMax,
  }
}

/**
 * Lists quarantined items, adopts or deletes them, directly in the database. Run by script/quarantine; needs no server.
 */
import { parseArgs } from 'node:util'
import { isUuid, systemClock } from '@dock/foundation'
import type { Db } from './database/database.ts'
import { adoptQuarantined } from './modules/docks/index.ts'
import { deleteQuarantined, listQuarantineRows, type Quarantined } from './modules/hosts/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const usage = 'usage: script/quarantine list [--all] | adopt ID [--organization ID] | delete ID'
const listedMax = 1_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, organization: { type: 'string' } },
})

const line = (item: Quarantined): string =>
  [
    item.id,
    item.state,
    item.kind,
    item.dockId ?? item.thingId,
    `generation=${item.generation}`,
    `organization=${item.organizationId ?? '-'}`,
    `name=${item.note?.hostname ?? '-'}`,
    `bytes=${item.sizeBytes ?? '-'}`,
    `at=${item.hostId ?? 'object-store'}`,
    `since=${item.firstSeenAt.toISOString()}`,
    ...(item.decidedBy === null ? [] : [`decided-by=${item.decidedBy}`]),
  ].join(' ')

const list = async (db: Db): Promise<string> => {
  const rows = await listQuarantineRows(db, { all: values.all, limit: listedMax })
  return rows.length === 0 ? 'The quarantine is empty.' : rows.map(line).join('\n')
}

const run = async (db: Db): Promise<string> => {
  const [command, id, ...rest] = positionals
  const context = { db, clock: systemClock }
  if (command === 'list' && id === undefined) return list(db)
  if (id === undefined || !isUuid(id) || rest.length > 0) throw new Error(usage)
  if (command === 'adopt') {
    const { dockId, snapshotId, isNewDock } = await adoptQuarantined(context, id, {
      organizationId: values.organization,
    })
    const where = isNewDock ? `new, archived Dock ${dockId}` : `existing Dock ${dockId}`
    return `Adopted as Snapshot ${snapshotId} of the ${where}. Resume the Dock to start it from this Snapshot.`
  }
  if (command !== 'delete') throw new Error(usage)
  await deleteQuarantined(context, id)
  return 'Deleted. The host removes the data after its next report, within a minute if the host is connected.'
}

await runOnDatabase('quarantine', run)

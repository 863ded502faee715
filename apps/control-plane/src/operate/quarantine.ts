import { parseArgs } from 'node:util'
import { isUuid, systemClock } from '@dock/foundation'
import type { Quarantined } from '../modules/hosts/index.ts'
import type { Verb, Work } from './verb.ts'

/**
 * Lists what hosts and the object store have but the database does not know, for example after a restore, and adopts or
 * deletes it.
 */
export const quarantine: Verb = {
  usage: 'list [--all] | adopt ID [--organization ID] | delete ID',
  summary: 'lists, adopts or deletes what hosts and the store have and the database does not know',
  read: (words) => {
    const read = readWords(words)
    if (!read) return undefined
    const { values, positionals } = read
    const [action, id, ...rest] = positionals
    if (action === 'list' && id === undefined) return list(values.all)
    if (id === undefined || !isUuid(id) || rest.length > 0) return undefined
    if (action === 'adopt') return adopt(id, values.organization)
    return action === 'delete' ? remove(id) : undefined
  },
}

const listedMax = 1_000

const readWords = (words: readonly string[]) => {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { all: { type: 'boolean', default: false }, organization: { type: 'string' } },
    })
  } catch {
    return undefined
  }
}

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

const list =
  (all: boolean): Work =>
  async (db) => {
    const { listQuarantineRows } = await import('../modules/hosts/index.ts')
    const rows = await listQuarantineRows(db, { all, limit: listedMax })
    return rows.length === 0 ? 'The quarantine is empty.' : rows.map(line).join('\n')
  }

const adopt =
  (id: string, organizationId: string | undefined): Work =>
  async (db) => {
    const { adoptQuarantined } = await import('../modules/docks/index.ts')
    const adopted = await adoptQuarantined({ db, clock: systemClock }, id, {
      organizationId,
      by: { kind: 'operator' },
    })
    const where = adopted.isNewDock
      ? `new, archived Dock ${adopted.dockId}`
      : `existing Dock ${adopted.dockId}`
    return `Adopted as Snapshot ${adopted.snapshotId} of the ${where}. Resume the Dock to start it from this Snapshot.`
  }

const remove =
  (id: string): Work =>
  async (db) => {
    const { deleteQuarantined } = await import('../modules/hosts/index.ts')
    await deleteQuarantined({ db, clock: systemClock }, id, { kind: 'operator' })
    return 'Deleted. The host removes the data after its next report, within a minute if the host is connected.'
  }

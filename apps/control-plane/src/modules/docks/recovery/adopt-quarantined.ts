/**
 * Adopts a quarantined Dock or capture. Its disk becomes a Snapshot: of the Dock to which it belongs if the database knows
 * that Dock, otherwise of a new archived Dock, which can then be resumed. Only rows change; the disk stays on its host.
 */
import { type Clock, newUuid, randomBase32 } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import type { Cause } from '../../../engine/index.ts'
import { type Actor, recordAudit } from '../../audit/index.ts'
import {
  adminIdOf,
  captureIdOf,
  findUnconfirmedDisk,
  lockQuarantined,
  type Quarantined,
  QuarantineRefused,
  recordQuarantineDecision,
} from '../../hosts/index.ts'
import { dockOfSnapshot, saveAdopted } from '../../storage/index.ts'
import { insertDock, type NewDockRow } from '../core/insert-dock.ts'
import { updateLastSnapshotAt } from '../core/last-snapshot.ts'
import { causedBy } from '../dock-context.ts'

const gib = 2 ** 30

export type Adopted = { dockId: string; snapshotId: string; organizationId: string; isNewDock: boolean }

type Home = { organizationId: string; workspaceId: string; owner: string }
type Known = { organizationId: string; state: string; hasDisk: boolean }

const knownDock = async (tx: Tx, dockId: string): Promise<Known | null> =>
  (
    await sql<Known>`select organization_id as "organizationId", state, has_disk as "hasDisk" from docks
      where id = ${dockId} for update`.execute(tx)
  ).rows[0] ?? null

/** Returns the organization's oldest workspace and its longest-standing owner (or admin, or member). */
const homeIn = async (tx: Tx, organizationId: string): Promise<Home> => {
  const found = await sql<Home>`
    select o.id as "organizationId",
      (select w.id from workspaces w where w.organization_id = o.id order by w.created_at, w.id limit 1) as "workspaceId",
      (select m.user_id from memberships m where m.organization_id = o.id
        order by array_position(array['owner', 'admin'], m.role), m.created_at, m.user_id limit 1) as owner
    from organizations o where o.id = ${organizationId} and o.deleted_at is null`.execute(tx)
  const home = found.rows[0]
  if (!home?.workspaceId || !home.owner)
    throw new QuarantineRefused(
      'conflict',
      `Organization ${organizationId} does not exist. Name another one with --organization ID.`,
    )
  return home
}

const freeName = async (tx: Tx, workspaceId: string, wanted: string): Promise<string> => {
  const taken =
    await sql`select 1 from docks where workspace_id = ${workspaceId} and name = ${wanted}`.execute(tx)
  return taken.rows.length === 0 ? wanted : `${wanted.slice(0, 50)}-${randomBase32(6)}`
}

/** The disk's contents are unknown, so the new Dock counts as containing files of all Environments of the organization. */
const saveDock = async (
  tx: Tx,
  dockId: string,
  item: Quarantined,
  { organizationId, workspaceId, owner }: Home,
  now: Date,
): Promise<void> => {
  const { note, hostId, generation } = item
  const name = await freeName(tx, workspaceId, note?.hostname ?? `adopted-${dockId.slice(0, 8)}`)
  const row: NewDockRow = {
    id: dockId,
    organization_id: organizationId,
    workspace_id: workspaceId,
    name,
    image: sql`coalesce(h.images[1], 'debian-13')`,
    cpus: note?.cpus ?? 1,
    memory_mib: note?.memoryMiB ?? 1024,
    disk_gib: diskGiB(item),
    runtime: sql`h.runtime`,
    state: 'archived',
    state_changed_at: now,
    generation: Math.max(generation, 1),
    environment: 'default',
    env_passes: false,
    marks: sql`array(select e.id from environments e where e.organization_id = ${organizationId})`,
    no_env: true,
    placed: false,
    has_disk: false,
    setup_status: 'done',
    created_by: owner,
    created_at: now,
    updated_at: now,
  }
  await insertDock(row, sql`hosts h where h.id = ${hostId}`).execute(tx)
}

const diskGiB = ({ note, diskBytes }: Quarantined): number =>
  note?.diskGiB ?? Math.max(1, Math.ceil((diskBytes ?? gib) / gib))

/** Returns the time of the capture, at most `now`: the host's clock may be ahead. */
const capturedBy = ({ note }: Quarantined, now: Date): Date =>
  note ? new Date(Math.min(Date.parse(note.capturedAt), now.getTime())) : now

/** Moves a Dock to `archived`, because it now has a Snapshot from which it can start. */
const archive = async (
  tx: Tx,
  { dockId, from, cause }: { dockId: string; from: string | null; cause: Cause },
  now: Date,
): Promise<void> => {
  await sql`update docks set state = 'archived', state_changed_at = ${now}, host_id = null where id = ${dockId}`.execute(
    tx,
  )
  await sql`insert into dock_state_changes (dock_id, organization_id, from_state, to_state, cause, at)
    select id, organization_id, ${from}::text, 'archived', ${JSON.stringify(cause)}::jsonb, ${now}::timestamptz from docks
    where id = ${dockId}`.execute(tx)
}

export type Adoption = { organizationId?: string | undefined; by: Actor }

/**
 * Adopts the quarantine entry with this id. `organizationId` is needed only if neither the database nor the host's note
 * names an organization. Errors contain a sentence for the operator that says what to do.
 */
export function adoptQuarantined(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
  { organizationId, by }: Adoption,
): Promise<Adopted> {
  const adminId = adminIdOf(by)
  const cause: Cause =
    adminId === null
      ? { by: 'operator', through: 'script', why: 'adopted' }
      : causedBy({ userId: adminId }, 'adopted')
  return withTransaction(db, async (tx) => {
    const now = clock.now()
    const item = await lockQuarantined(tx, id)
    if (!item)
      throw new QuarantineRefused(
        'not_found',
        `No quarantine entry has the id ${id}. Run script/admin quarantine list to see all entries.`,
      )
    if (item.kind === 'objects' || item.hostId === null)
      throw new QuarantineRefused(
        'conflict',
        'Entries of the object store cannot be adopted. Keep or delete them.',
      )
    if (item.state !== 'held')
      throw new QuarantineRefused(
        'conflict',
        `The entry is ${item.state}. Only entries that their host has confirmed (held) can be adopted.`,
      )
    const { hostId, sizeBytes, generation } = item
    const snapshotId = captureIdOf(item)
    // The database takes precedence over the host's note.
    const dockId = (await dockOfSnapshot(tx, snapshotId)) ?? item.dockId ?? newUuid()
    const newer = await findUnconfirmedDisk(tx, dockId)
    if (newer)
      throw new QuarantineRefused(
        'conflict',
        `Host ${newer.hostId} has a disk of Dock ${dockId} that may be newer (entry ${newer.id}, found). Make room on the host, wait until that entry is held, then decide on both.`,
      )
    const known = await knownDock(tx, dockId)
    const home = known?.organizationId ?? organizationId ?? item.organizationId
    if (!home)
      throw new QuarantineRefused(
        'conflict',
        'The host noted no organization. Name one with --organization ID.',
      )
    if (known && organizationId !== undefined && organizationId !== known.organizationId)
      throw new QuarantineRefused(
        'conflict',
        `The Dock belongs to organization ${known.organizationId}. Omit --organization.`,
      )
    if (!known) {
      await saveDock(tx, dockId, item, await homeIn(tx, home), now)
      await archive(tx, { dockId, from: null, cause }, now)
    } else if (known.state === 'error' && !known.hasDisk)
      await archive(tx, { dockId, from: 'error', cause }, now)
    // A running Dock keeps the generation of its runtime.
    await sql`update docks set generation = greatest(generation, ${generation}::int)
      where id = ${dockId} and state = 'archived'`.execute(tx)
    const capture = { id: snapshotId, hostId, dockId, organizationId: home, diskGiB: diskGiB(item) }
    const capturedAt = capturedBy(item, now)
    await saveAdopted(tx, { ...capture, capturedAt, sizeBytes: sizeBytes ?? 0 }, now)
    await updateLastSnapshotAt(tx, [dockId], now)
    await recordQuarantineDecision(tx, id, { state: 'adopted', adminId, now, dockId })
    await sql`select pg_notify('snapshot_completed', '')`.execute(tx)
    await recordAudit(tx, by, {
      action: 'quarantine.adopted',
      now,
      organizationId: home,
      target: { type: 'dock', id: dockId, name: item.note?.hostname ?? null },
      details: { snapshot: snapshotId, host: hostId, newDock: known === null },
    })
    return { dockId, snapshotId, organizationId: home, isNewDock: known === null }
  })
}

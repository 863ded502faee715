/**
 * Brings a Dock or a capture back from quarantine: its disk becomes a Snapshot of a known Dock, as old as the disk, or the
 * only one of an archived Dock, which starts again by a resume. Everything is rows: the disk stays where its host keeps it.
 */
import { type Clock, newUuid, randomBase32 } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { captureOf, decide, lockQuarantined, type Quarantined } from '../../hosts/index.ts'
import { dockOfSnapshot, saveAdopted } from './adopted-snapshot.ts'

const gib = 2 ** 30

export type Adopted = { dockId: string; snapshotId: string; organizationId: string; isNewDock: boolean }

type Home = { organizationId: string; workspaceId: string; owner: string }
type Known = { organizationId: string; state: string; hasDisk: boolean }

const knownDock = async (tx: Tx, dockId: string): Promise<Known | null> =>
  (
    await sql<Known>`select organization_id as "organizationId", state, has_disk as "hasDisk" from docks
      where id = ${dockId} for update`.execute(tx)
  ).rows[0] ?? null

/** The oldest workspace of the organization, and who has been its owner longest. */
const homeIn = async (tx: Tx, organizationId: string): Promise<Home> => {
  const found = await sql<Home>`
    select o.id as "organizationId",
      (select w.id from workspaces w where w.organization_id = o.id order by w.created_at, w.id limit 1) as "workspaceId",
      (select m.user_id from memberships m where m.organization_id = o.id
        order by array_position(array['owner', 'admin'], m.role), m.created_at, m.user_id limit 1) as owner
    from organizations o where o.id = ${organizationId} and o.deleted_at is null`.execute(tx)
  const home = found.rows[0]
  if (!home?.workspaceId || !home.owner)
    throw new Error(`The organization ${organizationId} is not there: name another with --organization.`)
  return home
}

const freeName = async (tx: Tx, workspaceId: string, wanted: string): Promise<string> => {
  const taken =
    await sql`select 1 from docks where workspace_id = ${workspaceId} and name = ${wanted}`.execute(tx)
  return taken.rows.length === 0 ? wanted : `${wanted.slice(0, 50)}-${randomBase32(6)}`
}

/** What is on the disk nobody knows any more: it counts as holding files of every Environment of the organization. */
const insertDock = async (
  tx: Tx,
  dockId: string,
  item: Quarantined,
  { organizationId, workspaceId, owner }: Home,
  now: Date,
): Promise<void> => {
  const { note, hostId, generation } = item
  const name = await freeName(tx, workspaceId, note?.hostname ?? `adopted-${dockId.slice(0, 8)}`)
  await sql`
    insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime, state,
      state_changed_at, generation, ttl_seconds, environment, env_passes, marks, no_env, from_template, host_id, placed,
      has_disk, setup_status, created_by, created_at, updated_at)
    select ${dockId}::uuid, ${organizationId}::uuid, ${workspaceId}::uuid, ${name}, coalesce(h.images[1], 'debian-13'),
      ${note?.cpus ?? 1}::int, ${note?.memoryMiB ?? 1024}::int, ${diskGiB(item)}::int, h.runtime, 'archived',
      ${now}::timestamptz, ${Math.max(generation, 1)}::int, null, 'default', false,
      array(select e.id from environments e where e.organization_id = ${organizationId}::uuid), true, null, null, false,
      false, 'done', ${owner}, ${now}::timestamptz, ${now}::timestamptz
    from hosts h where h.id = ${hostId}::uuid`.execute(tx)
}

const diskGiB = ({ note, diskBytes }: Quarantined): number =>
  note?.diskGiB ?? Math.max(1, Math.ceil((diskBytes ?? gib) / gib))

/** When the disk was captured by its host's clock, which may be ahead. */
const capturedBy = ({ note }: Quarantined, now: Date): Date =>
  note ? new Date(Math.min(Date.parse(note.capturedAt), now.getTime())) : now

/** A Dock that was given up with its disk is archived now: there is a disk again. */
const archive = async (tx: Tx, dockId: string, from: string | null, now: Date): Promise<void> => {
  const cause = JSON.stringify({ by: 'operator', through: 'script', why: 'adopted' })
  await sql`update docks set state = 'archived', state_changed_at = ${now}, host_id = null where id = ${dockId}`.execute(
    tx,
  )
  await sql`insert into dock_state_changes (dock_id, organization_id, from_state, to_state, cause, at)
    select id, organization_id, ${from}::text, 'archived', ${cause}::jsonb, ${now}::timestamptz from docks
    where id = ${dockId}`.execute(tx)
}

/**
 * Adopts what stands in quarantine under this id. `organizationId` is asked for only where neither the database nor the
 * host's note names one. Throws a sentence that says what to do.
 */
export function adoptQuarantined(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
  organizationId?: string,
): Promise<Adopted> {
  return withTransaction(db, async (tx) => {
    const now = clock.now()
    const item = await lockQuarantined(tx, id)
    if (!item)
      throw new Error(`Nothing stands in quarantine under ${id}: script/quarantine list shows what does.`)
    if (item.kind === 'objects' || item.hostId === null)
      throw new Error('Objects of the store cannot be adopted, only kept or deleted.')
    if (item.state !== 'held')
      throw new Error(`It is ${item.state}: only what its host has confirmed (held) can be adopted.`)
    const { hostId, sizeBytes, generation } = item
    const snapshotId = captureOf(item)
    // What the database knows of it goes before what the host notes.
    const dockId = (await dockOfSnapshot(tx, snapshotId)) ?? item.dockId ?? newUuid()
    const known = await knownDock(tx, dockId)
    const home = known?.organizationId ?? organizationId ?? item.organizationId
    if (!home) throw new Error('Its host noted no organization: name one with --organization ID.')
    if (known && organizationId !== undefined && organizationId !== known.organizationId)
      throw new Error(`Its Dock belongs to organization ${known.organizationId}: leave --organization out.`)
    if (!known) {
      await insertDock(tx, dockId, item, await homeIn(tx, home), now)
      await archive(tx, dockId, null, now)
    } else if (known.state === 'error' && !known.hasDisk) await archive(tx, dockId, 'error', now)
    // Of a Dock that runs, the generation is its runtime's.
    await sql`update docks set generation = greatest(generation, ${generation}::int)
      where id = ${dockId} and state = 'archived'`.execute(tx)
    const capture = { id: snapshotId, hostId, dockId, organizationId: home, diskGiB: diskGiB(item) }
    const capturedAt = capturedBy(item, now)
    await saveAdopted(tx, { ...capture, capturedAt, sizeBytes: sizeBytes ?? 0 }, now)
    await decide(tx, id, 'adopted', now)
    await sql`select pg_notify('snapshot_completed', '')`.execute(tx)
    return { dockId, snapshotId, organizationId: home, isNewDock: known === null }
  })
}

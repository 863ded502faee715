/** The only SQL for hosts and join tokens. Hosts belong to the instance, so these queries take no tenant. */
import type { RuntimeName } from '@dock/contract'
import { type HostFacts, type Pressure, usualHeadroomMiB } from '@dock/host-protocol'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { areCopiesChecked } from '../lineage/index.ts'
import { isInQuarantine } from './quarantine-store.ts'

export type HostRow = {
  id: string
  address: string
  runtime: RuntimeName
  cpuFamily: string
  kernel: string
  kernelRelease: string | null
  vcpuTotal: number
  memTotalBytes: number
  diskTotalBytes: number
  maxDocks: number
  usedDocks: number
  runningDocks: number
  state: 'online' | 'offline'
  bootId: string
  images: string[]
  orphans: { dockId: string; state: string }[]
  lastHeartbeatAt: Date | null
  createdAt: Date
}

const columns = sql`h.id, h.address, h.runtime, h.cpu_family as "cpuFamily", h.kernel,
  h.kernel_release as "kernelRelease", h.vcpu_total as "vcpuTotal", h.mem_total_bytes as "memTotalBytes",
  h.disk_total_bytes as "diskTotalBytes", h.max_docks as "maxDocks", h.reserved_slots as "usedDocks",
  h.running_docks as "runningDocks", h.state, h.boot_id as "bootId", h.images, h.orphans,
  h.last_heartbeat_at as "lastHeartbeatAt", h.created_at as "createdAt"`

/** Returns all hosts, ordered by id. */
export async function listHostRows(db: Db): Promise<HostRow[]> {
  return (await sql<HostRow>`select ${columns} from hosts h order by h.id`.execute(db)).rows
}

export async function readHostRow(db: Db, id: string): Promise<HostRow | null> {
  return (await sql<HostRow>`select ${columns} from hosts h where h.id = ${id}`.execute(db)).rows[0] ?? null
}

export async function findHostByCredential(db: Db, credentialHash: Buffer): Promise<string | null> {
  return (
    (await sql<{ id: string }>`select id from hosts where credential_hash = ${credentialHash}`.execute(db))
      .rows[0]?.id ?? null
  )
}

/** Records that a host connects with this credential from `address`. Returns its id, or null if it is not valid. */
export async function recordCredentialUse(
  db: Db,
  credentialHash: Buffer,
  address: string,
): Promise<string | null> {
  return (
    (
      await sql<{ id: string }>`update hosts set held_hash = credential_hash, address = ${address}
      where credential_hash = ${credentialHash} returning id`.execute(db)
    ).rows[0]?.id ?? null
  )
}

export type JoinToken = { hash: Buffer; isForBuilder: boolean; expiresAt: Date }

/** Saves a join token and deletes expired ones. */
export async function insertJoinToken(db: Db, token: JoinToken, now: Date): Promise<void> {
  await sql`delete from join_tokens where expires_at < ${now}`.execute(db)
  await sql`insert into join_tokens (hash, for_builder, expires_at, created_at)
    values (${token.hash}, ${token.isForBuilder}, ${token.expiresAt}, ${now})`.execute(db)
}

/** Marks a join token as used. Returns null if it is unknown, already used or expired. */
export async function spendJoinToken(
  db: Db,
  hash: Buffer,
  now: Date,
): Promise<{ isForBuilder: boolean } | null> {
  const { rows } = await sql<{ isForBuilder: boolean }>`
    update join_tokens set used_at = ${now} where hash = ${hash} and used_at is null and expires_at > ${now}
    returning for_builder as "isForBuilder"`.execute(db)
  return rows[0] ?? null
}

/** Sets or clears a host's builder mark. Returns false if the host does not exist. */
export async function markBuilder(db: Db, id: string, isBuilder: boolean): Promise<boolean> {
  const result = await sql`update hosts set is_builder = ${isBuilder} where id = ${id}`.execute(db)
  return result.numAffectedRows === 1n
}

export type BuilderMark = { id: string; address: string; state: string; isBuilder: boolean }

/** Returns all hosts with their builder marks, oldest first. */
export async function listBuilderMarks(db: Db): Promise<BuilderMark[]> {
  return (
    await sql<BuilderMark>`select id, address, state, is_builder as "isBuilder" from hosts
      order by created_at, id`.execute(db)
  ).rows
}

/** Hosts of earlier releases do not report it. All of them run gVisor, whose sandboxes had this headroom. */
const headroomOf = ({ sandboxHeadroomMiB = usualHeadroomMiB }: HostFacts): number => sandboxHeadroomMiB

const releaseOf = ({ runtimeRelease }: HostFacts) =>
  sql`${runtimeRelease ? JSON.stringify(runtimeRelease) : null}::jsonb`

/** Saves a new host, or one that enrols again. Returns false if the id is taken and `formerHash` does not prove it. */
export async function saveHost(
  db: Db,
  input: {
    id: string
    address: string
    credentialHash: Buffer
    formerHash: Buffer | null
    facts: HostFacts
    /** The host registers with a builder token. A host that is a builder already stays one. */
    isBuilder: boolean
    now: Date
  },
): Promise<boolean> {
  const { facts, formerHash } = input
  const result = await sql`
    insert into hosts (id, address, credential_hash, runtime, cpu_family, kernel, kernel_release, boot_id, vcpu_total,
      mem_total_bytes, disk_total_bytes, max_docks, sandbox_headroom_mib, runtime_release, images, is_builder, state, created_at)
    values (${input.id}, ${input.address}, ${input.credentialHash}, ${facts.runtime}, ${facts.cpuFamily},
      ${facts.kernel}, ${facts.kernelRelease}, ${facts.bootId}, ${facts.vcpuTotal}, ${facts.memTotalBytes},
      ${facts.diskTotalBytes}, ${facts.maxDocks}, ${headroomOf(facts)}, ${releaseOf(facts)}, ${facts.images},
      ${input.isBuilder}, 'offline', ${input.now})
    on conflict (id) do update set address = excluded.address, credential_hash = excluded.credential_hash,
      is_builder = hosts.is_builder or excluded.is_builder
      where ${formerHash}::bytea in (hosts.credential_hash, hosts.held_hash)`.execute(db)
  return result.numAffectedRows === 1n
}

/** Replaces a host's credential. Returns false if the host does not exist. */
export async function saveCredential(db: Db, id: string, credentialHash: Buffer): Promise<boolean> {
  const result = await sql`update hosts set credential_hash = ${credentialHash} where id = ${id}`.execute(db)
  return result.numAffectedRows === 1n
}

/** Saves a heartbeat. Returns false if the host is offline: only an inventory brings it online again. */
export async function saveHeartbeat(
  db: Db,
  input: { id: string; pressure: Pressure; running: number; now: Date },
): Promise<boolean> {
  const result = await sql`
    update hosts set last_heartbeat_at = ${input.now}, running_docks = ${input.running},
      mem_available_bytes = ${input.pressure.memAvailableBytes}, disk_free_bytes = ${input.pressure.diskFreeBytes}
    where id = ${input.id} and state = 'online'`.execute(db)
  return result.numAffectedRows === 1n
}

/**
 * Saves the facts of an inventory and marks the host online. `rebooted`: the machine rebooted since the last one.
 * `isNewlyEmulated`: it has not said before that it emulates the processor.
 */
export async function saveInventory(
  db: Db,
  input: {
    id: string
    facts: HostFacts
    pressure: Pressure
    running: number
    now: Date
  },
): Promise<{ rebooted: boolean; isNewlyEmulated: boolean }> {
  const { facts, pressure } = input
  const result = await sql<{ rebooted: boolean; isNewlyEmulated: boolean }>`
    update hosts h set runtime = ${facts.runtime}, cpu_family = ${facts.cpuFamily}, kernel = ${facts.kernel},
      kernel_release = ${facts.kernelRelease}, boot_id = ${facts.bootId}, vcpu_total = ${facts.vcpuTotal},
      mem_total_bytes = ${facts.memTotalBytes}, disk_total_bytes = ${facts.diskTotalBytes},
      max_docks = ${facts.maxDocks}, sandbox_headroom_mib = ${headroomOf(facts)},
      runtime_release = ${releaseOf(facts)}, is_emulated = ${facts.isEmulated ?? false}, images = ${facts.images},
      image_versions = ${JSON.stringify(facts.imageVersions)}::jsonb, state = 'online', lost_at = null,
      declared_lost_at = null, running_docks = ${input.running},
      mem_available_bytes = ${pressure.memAvailableBytes}, disk_free_bytes = ${pressure.diskFreeBytes},
      last_heartbeat_at = ${input.now}
    from (select id, boot_id, is_emulated from hosts where id = ${input.id} for update) old
    where h.id = old.id returning old.boot_id <> ${facts.bootId} as rebooted,
      h.is_emulated and not old.is_emulated as "isNewlyEmulated"`.execute(db)
  return result.rows[0] ?? { rebooted: false, isNewlyEmulated: false }
}

/** Tells open pages that the warm pool of a host has changed. It is kept in memory, so no trigger sees it. */
export async function noteWarmPool(db: Db, id: string): Promise<void> {
  await sql`select note_live_change(null, null, true, 'host', ${id}, null)`.execute(db)
}

/** Saves the runtimes without an owner that the host reported, for instance admins. */
export async function saveOrphans(
  db: Db,
  id: string,
  orphans: readonly { dockId: string; state: string }[],
): Promise<void> {
  const json = JSON.stringify(orphans)
  await sql`update hosts set orphans = ${json}::jsonb where id = ${id} and orphans <> ${json}::jsonb`.execute(
    db,
  )
}

/** Marks hosts offline whose last heartbeat, or `listeningSince` if later, is before `before`. Returns their ids. */
export async function markSilentHosts(
  db: Db,
  { before, listeningSince }: { before: Date; listeningSince: Date },
): Promise<string[]> {
  const result = await sql<{ id: string }>`
    update hosts set state = 'offline'
    where state = 'online' and greatest(last_heartbeat_at, ${listeningSince}) < ${before} returning id`.execute(
    db,
  )
  return result.rows.map((row) => row.id)
}

/** A Dock, or the machine of a fast Run, that a host should have. `busy`: an operation holds it. */
export type ExpectedDock = {
  id: string
  organizationId: string
  workspaceId: string
  state: string
  generation: number
  stateChangedAt: Date
  hasDisk: boolean
  busy: boolean
  recoveries: Date[]
  /** The newest generation that was adopted from quarantine, or whose disk still waits there to be captured; 0 for none. */
  quarantinedUpTo: number
}

/**
 * Returns the Docks of a host, and those in its report that are placed on other hosts. Machines of fast Runs are among
 * them: `ready`, `busy` while they boot, and `archived` once they have ended.
 */
export async function listExpectedDocks(
  db: Db,
  hostId: string,
  reported: readonly string[],
): Promise<(ExpectedDock & { hostId: string | null })[]> {
  return (
    await sql<ExpectedDock & { hostId: string | null }>`
      select d.id, d.organization_id as "organizationId", d.workspace_id as "workspaceId", d.state, d.generation,
        d.state_changed_at as "stateChangedAt", d.has_disk as "hasDisk", d.host_id as "hostId", d.recoveries,
        exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed') as busy,
        coalesce(q."upTo", 0) as "quarantinedUpTo"
      from docks d left join (select dock_id, greatest(max(generation), 1) as "upTo" from quarantine
        where state = 'adopted' or (kind = 'dock' and state = 'found') group by dock_id) q on q.dock_id = d.id
      where d.host_id = ${hostId} or d.id = any(${reported}::uuid[])
      union all
      select m.id, m.organization_id, m.workspace_id, case m.state when 'ended' then 'archived' else 'ready' end,
        m.generation, m.state_changed_at, m.state <> 'ended', m.host_id, '{}'::timestamptz[], m.state = 'starting', 0
      from run_machines m where (m.host_id = ${hostId} and m.state <> 'ended') or m.id = any(${reported}::uuid[])`.execute(
      db,
    )
  ).rows
}

/** Returns the ids that a Dock has or had. A host must not offer these for new Docks. */
export async function findUsedDockIds(db: Db, ids: readonly string[]): Promise<Set<string>> {
  return new Set(
    (
      await sql<{ id: string }>`select n.id::text from unnest(${ids}::uuid[]) as n(id)
        where exists (select 1 from docks d where d.id = n.id)
          or exists (select 1 from dock_state_changes c where c.dock_id = n.id)
          or exists (select 1 from run_machines m where m.id = n.id)`.execute(db)
    ).rows.map(({ id }) => id),
  )
}

/**
 * Returns the captures on a host that no Snapshot keeps there, that no order removes and that are not in quarantine. After
 * a restore of the database, those with a copy are left out until the copies were checked.
 * `isOver`: the capture can be removed, because its Snapshot failed on this host or has an undamaged copy. A capture whose
 * Snapshot failed because its host was lost is not over. If that machine comes back under another id, it holds the only
 * data there is.
 */
export async function listUnkeptCaptures(
  db: Db,
  hostId: string,
  captures: readonly string[],
): Promise<{ id: string; isOver: boolean }[]> {
  return (
    await sql<{ id: string; isOver: boolean }>`
      select c.id::text, copied.yes or exists (select 1 from snapshots s where s.id = c.id and s.status = 'failed'
          and s.lost_at is null and s.host_id = ${hostId}) as "isOver"
      from unnest(${captures}::uuid[]) as c(id)
      cross join lateral (select exists (select 1 from snapshots s join copies p on p.snapshot_id = s.id
        where s.id = c.id and s.status = 'completed' and p.verified_at is not null and p.damaged_at is null) as yes) copied
      where (not copied.yes or ${areCopiesChecked}) and not exists (select 1 from snapshots s where s.id = c.id and (s.status <> 'failed' or s.lost_at is not null)
          and (s.host_id = ${hostId} or exists (select 1 from snapshot_restores r
            where r.snapshot_id = s.id and r.host_id = ${hostId})))
        and not exists (select 1 from host_orders o
          where o.host_id = ${hostId} and o.kind = 'capture' and o.thing_id = c.id)
        and not ${isInQuarantine(hostId)}`.execute(db)
  ).rows
}

export type HostDockRow = {
  id: string
  name: string
  state: string
  cpus: number
  memoryMiB: number
  diskGiB: number
  runtime: RuntimeName
  ip: string | null
  stateChangedAt: Date
  workspaceName: string
  organizationId: string
  organizationName: string
}

/** Returns the Docks on a host, except archived ones, oldest first. */
export async function listHostDocks(db: Db, hostId: string): Promise<HostDockRow[]> {
  return (
    await sql<HostDockRow>`
      select d.id, d.name, d.state, d.cpus, d.memory_mib as "memoryMiB", d.disk_gib as "diskGiB", d.runtime, d.ip,
        d.state_changed_at as "stateChangedAt", w.name as "workspaceName", d.organization_id as "organizationId",
        o.name as "organizationName"
      from docks d join workspaces w on w.id = d.workspace_id join organizations o on o.id = d.organization_id
      where d.host_id = ${hostId} and d.state <> 'archived' order by d.created_at, d.id`.execute(db)
  ).rows
}

/** Returns the machines of fast Runs on a host, oldest first. */
export async function listHostMachines(db: Db, hostId: string): Promise<{ dockId: string; state: string }[]> {
  return (
    await sql<{ dockId: string; state: string }>`select id as "dockId", state from run_machines
      where host_id = ${hostId} and state <> 'ended' order by created_at, id`.execute(db)
  ).rows
}

/** Returns true if a repository is linked, so that Runs may want machines at any moment. */
export async function areRepositoriesLinked(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from github_repositories limit 1`.execute(db)
  return rows.length > 0
}

/** Queries for the machines of fast Runs: sandboxes without a Dock. A Run has at most one at a time. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export type RunMachine = {
  id: string
  runId: string
  organizationId: string
  workspaceId: string
  /** The turn for which it was made. Later turns may use it too. */
  turn: number
  hostname: string
  image: string
  cpus: number
  memoryMiB: number
  diskGiB: number
  hostId: string
  generation: number
  state: 'starting' | 'running'
  noEnv: boolean
  environmentId: string | null
  environmentVersion: number | null
  /** False if its host is silent now. */
  isHostOnline: boolean
}

/** Columns of a {@link RunMachine}, for the table alias `m`. */
const columns: RawBuilder<unknown> = sql`m.id, m.run_id as "runId", m.organization_id as "organizationId",
  m.workspace_id as "workspaceId", m.turn, m.hostname, m.image, m.cpus, m.memory_mib as "memoryMiB",
  m.disk_gib as "diskGiB", m.host_id as "hostId", m.generation, m.state, m.no_env as "noEnv",
  m.environment_id as "environmentId", m.environment_version as "environmentVersion",
  exists (select 1 from hosts h where h.id = m.host_id and h.state = 'online') as "isHostOnline"`

/** Until its first report to this process, a host may know that the database was restored. */
const isUnreported = sql<boolean>`exists (select 1 from hosts h, (select max(started_at) as at from instance_starts) started
  where h.id = m.host_id and m.created_at < started.at and coalesce(h.last_heartbeat_at < started.at, true))`

/**
 * SQL predicate: true if the machine `m` may have become a Dock in the lost time. Nothing on its host would show that,
 * because a promotion changes rows only.
 */
export const mayBeDock: RawBuilder<boolean> = sql<boolean>`(${isUnreported}
  or exists (select 1 from instance_epoch e where m.created_at < e.begun_at))`

/** SQL predicate: true if the next report of its host may tell whether the machine `m` is from before a restore. */
export const awaitsReport: RawBuilder<boolean> = sql<boolean>`(${isUnreported}
  and exists (select 1 from hosts h where h.id = m.host_id and h.lost_at is null))`

const findWhere = async (db: Db, which: RawBuilder<boolean>): Promise<RunMachine | null> =>
  (
    await sql<RunMachine>`select ${columns} from run_machines m where ${which} and m.state <> 'ended'`.execute(
      db,
    )
  ).rows[0] ?? null

/** Returns the Run's machine, or null. */
export async function findMachineOfRun(
  db: Db,
  organizationId: string,
  runId: string,
): Promise<RunMachine | null> {
  return findWhere(db, sql<boolean>`m.run_id = ${runId} and m.organization_id = ${organizationId}`)
}

/** For reports of hosts, which name machines of any organization. */
export async function findReportedMachine(db: Db, id: string): Promise<RunMachine | null> {
  return findWhere(db, sql<boolean>`m.id = ${id}`)
}

/** Returns up to `limit` machines of an organization, and how many it has. */
export async function listMachinesOf(
  db: Db,
  organizationId: string,
  limit: number,
): Promise<{ count: number; machines: RunMachine[] }> {
  const { rows } = await sql<RunMachine & { count: number }>`
    select ${columns}, count(*) over ()::int as count from run_machines m
    where m.organization_id = ${organizationId} and m.state <> 'ended' limit ${limit}`.execute(db)
  return { count: rows[0]?.count ?? 0, machines: rows }
}

/** Records that the machine is up. Returns false if it was ended meanwhile. */
export async function markMachineRunning(db: Db, id: string, ip: string | null, now: Date): Promise<boolean> {
  const { rows } = await sql`update run_machines set state = 'running', state_changed_at = ${now}, ip = ${ip}
    where id = ${id} and state <> 'ended' returning id`.execute(db)
  return rows.length === 1
}

/** How long an ended machine keeps its row: longer than any report of its host may be late. */
const endedForMs = 24 * 60 * 60_000

/** Deletes the rows of machines that ended long ago and that no order for their host names. */
export async function pruneMachines(db: Db, now: Date): Promise<void> {
  await sql`delete from run_machines m where m.state = 'ended'
    and m.state_changed_at < ${new Date(now.getTime() - endedForMs)}
    and not exists (select 1 from host_orders o where o.thing_id = m.id and o.host_id = m.host_id)`.execute(
    db,
  )
}

/** Deletes the rows of a deleted organization's ended machines. Orders for their hosts stay. */
export async function deleteEndedMachines(db: Db, organizationId: string): Promise<void> {
  await sql`delete from run_machines where organization_id = ${organizationId} and state = 'ended'`.execute(
    db,
  )
}

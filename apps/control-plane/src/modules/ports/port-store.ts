/** All SQL for exposed ports. */
import { type DockState, limits, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../database/database.ts'
import { newLabel } from './port-domain.ts'

export type PortRow = { port: number; label: string; createdAt: Date }

type DockOf = { id: string; organizationId: string }

const columns = sql`port, label, created_at as "createdAt"`

export async function listPortRows(db: Db, dock: DockOf): Promise<PortRow[]> {
  return (
    await sql<PortRow>`select ${columns} from dock_ports
      where dock_id = ${dock.id} and organization_id = ${dock.organizationId} order by port`.execute(db)
  ).rows
}

const findPortRow = async (db: Db, dock: DockOf, port: number): Promise<PortRow | undefined> =>
  (
    await sql<PortRow>`select ${columns} from dock_ports
      where dock_id = ${dock.id} and organization_id = ${dock.organizationId} and port = ${port}`.execute(db)
  ).rows[0]

/**
 * Exposes a port, or returns the existing row if it is already exposed. Locks the Dock's row while it counts, so that
 * concurrent requests cannot exceed the limit. Calls `record` in the transaction that exposes it. Throws `dock_not_found` and `port_limit_reached`.
 */
export async function exposePortRow(
  db: Db,
  dock: DockOf,
  port: number,
  now: Date,
  record: (tx: Tx) => Promise<void>,
): Promise<PortRow> {
  return (
    (await findPortRow(db, dock, port)) ??
    withTransaction(db, async (tx) => {
      const held = await sql`select 1 from docks
      where id = ${dock.id} and organization_id = ${dock.organizationId} for no key update`.execute(tx)
      if (held.rows.length === 0) throw new ServiceError('dock_not_found')
      const rows = await listPortRows(tx, dock)
      const exposed = rows.find((row) => row.port === port)
      if (exposed) return exposed
      if (rows.length >= limits.ports.perDockMax) throw new ServiceError('port_limit_reached')
      const inserted =
        await sql<PortRow>`insert into dock_ports (dock_id, organization_id, port, label, created_at)
      values (${dock.id}, ${dock.organizationId}, ${port}, ${newLabel()}, ${now}) returning ${columns}`.execute(
          tx,
        )
      await record(tx)
      return inserted.rows[0]!
    })
  )
}

/** Changes an exposed port. Returns whether its program saw the public host before, or null if it is not exposed. */
export async function updatePortRow(
  tx: Tx,
  dock: DockOf,
  port: number,
  { keepsHost }: { keepsHost: boolean },
): Promise<{ keptHost: boolean } | null> {
  const result = await sql<{ keptHost: boolean }>`with former as (select keeps_host from dock_ports
      where dock_id = ${dock.id} and organization_id = ${dock.organizationId} and port = ${port} for update)
    update dock_ports p set keeps_host = ${keepsHost} from former
    where p.dock_id = ${dock.id} and p.organization_id = ${dock.organizationId} and p.port = ${port}
    returning former.keeps_host as "keptHost"`.execute(tx)
  return result.rows[0] ?? null
}

/** Removes an exposed port. Returns false if it was not exposed. */
export async function removePortRow(db: Tx, dock: DockOf, port: number): Promise<boolean> {
  const result = await sql`delete from dock_ports
    where dock_id = ${dock.id} and organization_id = ${dock.organizationId} and port = ${port}`.execute(db)
  return result.numAffectedRows === 1n
}

/** The destination of requests for a label. The label is a secret: anyone who knows it may connect. */
export type PortRoute = {
  label: string
  port: number
  dockId: string
  state: DockState
  generation: number
  hostId: string | null
  /** True if the program sees the public host name. Otherwise it sees `localhost`. */
  keepsHost: boolean
}

export async function findRoute(db: Db, label: string): Promise<PortRoute | null> {
  return (
    (
      await sql<PortRoute>`select p.label, p.port, d.id as "dockId", d.state, d.generation, d.host_id as "hostId",
        p.keeps_host as "keepsHost"
      from dock_ports p join docks d on d.id = p.dock_id where p.label = ${label}`.execute(db)
    ).rows[0] ?? null
  )
}

/** The Snapshot from which a Dock can start again, and the hosts on which it can start. */
import type { RuntimeName } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type PlacementRequest, runtimesFor } from '../../hosts/index.ts'

export type KeptSnapshot = {
  id: string
  /** The host that keeps the capture; null if only the durable copy exists. */
  hostId: string | null
  diskGiB: number
  /** Size of the data, in bytes. */
  sizeBytes: number
  /** True if a verified durable copy exists. Without one, only `hostId` can use the Snapshot. */
  copied: boolean
  runtime: RuntimeName | null
}

/** A ready Template, as the templates module describes it. */
export type TemplateSource = {
  snapshotId: string | null
  hostId: string | null
  copied: boolean
  image: string
  diskGiB: number
  /** Size of the data on the Template's disk. */
  sizeBytes: number
  runtime: RuntimeName
  connectors: boolean
  /** Ids of the Environments whose files may be on the disk. */
  marks: string[]
  barsMembers: boolean
  sourceDockId: string | null
}

/** Returns the latest completed Snapshot of a Dock, or null. */
export async function latestSnapshot(
  db: Db,
  organizationId: string,
  dockId: string,
): Promise<KeptSnapshot | null> {
  return (
    (
      await sql<KeptSnapshot>`
      select s.id, s.host_id as "hostId", s.disk_gib as "diskGiB", s.size_bytes as "sizeBytes",
        s.copied_at is not null as copied, s.runtime
      from snapshots s
      where s.dock_id = ${dockId} and s.organization_id = ${organizationId} and s.status = 'completed'
      order by s.number desc limit 1`.execute(db)
    ).rows[0] ?? null
  )
}

/**
 * Returns the placement constraints of a Dock whose disk is created from the Snapshot. Throws `validation_error` if the
 * caller asks for a runtime that cannot boot it.
 */
export function placementForSnapshot(
  snapshot: Pick<KeptSnapshot, 'hostId' | 'copied' | 'runtime'>,
  asked: RuntimeName | undefined,
): Pick<PlacementRequest, 'image' | 'only' | 'prefer' | 'runtimes'> {
  return {
    image: null,
    only: snapshot.copied ? null : snapshot.hostId,
    prefer: snapshot.hostId,
    runtimes: runtimesFor(snapshot.runtime, asked),
  }
}

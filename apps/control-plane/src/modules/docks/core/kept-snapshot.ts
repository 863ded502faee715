/** The Snapshot that a Dock can start from again, and which hosts will do for it. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { PlacementRequest } from '../../hosts/index.ts'

export type KeptSnapshot = {
  id: string
  /** The host that keeps the capture; null when only the copy is left. */
  hostId: string | null
  diskGiB: number
  /** The data that it holds. */
  sizeBytes: number
  /** Whether a verified copy exists: until then no other host will do. */
  copied: boolean
  runtime: string
  /** When a newer one was made that was lost with its host, or null. */
  newerLostFrom: Date | null
}

/** A ready Template, as its module tells of it. */
export type TemplateSource = {
  snapshotId: string | null
  hostId: string | null
  copied: boolean
  image: string
  diskGiB: number
  runtime: string
  connectors: boolean
  /** Environments whose files the disk may hold. */
  marks: string[]
  barsMembers: boolean
  sourceDockId: string | null
}

/** The latest completed Snapshot of a Dock, or null. */
export async function latestSnapshot(
  db: Db,
  organizationId: string,
  dockId: string,
): Promise<KeptSnapshot | null> {
  return (
    (
      await sql<KeptSnapshot>`
      select s.id, s.host_id as "hostId", s.disk_gib as "diskGiB", s.size_bytes as "sizeBytes",
        s.copied_at is not null as copied, s.runtime, (select max(l.created_at) from snapshots l
          where l.dock_id = s.dock_id and l.lost_at is not null and l.number > s.number) as "newerLostFrom"
      from snapshots s
      where s.dock_id = ${dockId} and s.organization_id = ${organizationId} and s.status = 'completed'
      order by s.number desc limit 1`.execute(db)
    ).rows[0] ?? null
  )
}

/** What placement is asked for a disk that comes from the Snapshot. */
export function placedWith(
  snapshot: Pick<KeptSnapshot, 'hostId' | 'copied' | 'runtime'>,
): Pick<PlacementRequest, 'image' | 'only' | 'prefer' | 'runtime'> {
  return {
    image: null,
    only: snapshot.copied ? null : snapshot.hostId,
    prefer: snapshot.hostId,
    runtime: snapshot.runtime,
  }
}

/** Restores copies to a scratch disk and compares them with their captures, chunk by chunk. */
import { newCopyKeys } from '@dock/copy-format'
import { sql } from 'kysely'
import { defaultCopyPace, nameChunks } from '../../apps/host-agent/src/disks/copies/copy-capture.ts'
import type { StorageWorld } from './storage-world.ts'

const keys = newCopyKeys()
const pace = { ...defaultCopyPace, bytesPerSecond: 2 ** 40 }

/** Returns a disk's size, and the name of each chunk that is not all zeros, by index. */
const contentOf = async (disk: string): Promise<Map<number | 'size', string>> => {
  const content = new Map<number | 'size', string>()
  for await (const part of nameChunks(disk, keys, pace)) {
    if ('diskBytes' in part) content.set('size', String(part.diskBytes))
    else content.set(part.index, part.name)
  }
  return content
}

export type Comparison = { chunks: number; different: (number | 'size')[] }

/** Lists the chunks that differ or that one of the disks lacks. */
export async function compareDisks(one: string, other: string): Promise<Comparison> {
  const [first, second] = [await contentOf(one), await contentOf(other)]
  const places = new Set([...first.keys(), ...second.keys()])
  const different = [...places].filter((place) => first.get(place) !== second.get(place))
  return { chunks: places.size - 1, different }
}

export function captureOf(world: StorageWorld, snapshotId: string): string {
  return `${world.host.poolDir}/captures/${snapshotId}/disk.raw`
}

/** Restores a Snapshot's copy and compares it with the capture. Throws if an object is missing or damaged. */
export async function drillSnapshot(world: StorageWorld, snapshotId: string): Promise<Comparison> {
  try {
    return await compareDisks(await world.restoreToScratch(snapshotId), captureOf(world, snapshotId))
  } finally {
    await world.dropScratch(snapshotId)
  }
}

/** Lists the object keys of the chunks of a Snapshot's copy. */
export async function chunkKeysOf({ database }: StorageWorld, snapshotId: string): Promise<string[]> {
  return (
    await sql<{ key: string }>`
      select k.object_key as key from copies c
      join copy_chunk_uses u on u.copy_id = c.id
      join copy_chunks k on k.organization_id = u.organization_id and k.name = u.name
      where c.snapshot_id = ${snapshotId} order by k.object_key`.execute(database.db)
  ).rows.map(({ key }) => key)
}

export async function isCopied({ database }: StorageWorld, snapshotId: string): Promise<boolean> {
  return (
    (
      await sql`select 1 from snapshots where id = ${snapshotId} and copied_at is not null`.execute(
        database.db,
      )
    ).rows.length > 0
  )
}

/**
 * Checks all copies after a restore of the database, which may refer to objects that were removed since the backup. A copy
 * with missing objects is made again if a host keeps the capture. Otherwise its Snapshot fails.
 */
import { sql } from 'kysely'
import { ObjectMissing } from '../../../object-store/index.ts'
import { areCopiesChecked, markCopiesChecked } from '../../lineage/index.ts'
import { failUnkeptSnapshots } from '../captures/copied-captures.ts'
import { type CopyContext, manifestKey } from './copy-context.ts'
import { recordDamage } from './drill-store.ts'

const batch = 5_000

const isDue = async ({ db }: CopyContext): Promise<number | null> =>
  (await sql<{ epoch: number }>`select epoch from instance_epoch where not ${areCopiesChecked}`.execute(db))
    .rows[0]?.epoch ?? null

const organizations = async ({ db }: CopyContext): Promise<string[]> =>
  (
    await sql<{ id: string }>`select organization_id as id from copies where verified_at is not null
      union select organization_id from copy_chunks`.execute(db)
  ).rows.map(({ id }) => id)

/** Returns true if the object is missing now. The list of objects lacks those that were stored while it was read. */
const isMissing = async ({ store }: CopyContext, key: string): Promise<boolean> => {
  try {
    await store.get(key)
    return false
  } catch (error) {
    if (error instanceof ObjectMissing) return true
    throw error
  }
}

/**
 * Removes the rows of the organization's chunks whose objects are missing. `keys` are the objects that were listed. The
 * next copy that needs such a chunk stores it again, and no copy in progress can be published without it.
 */
const removeMissingChunks = async (
  context: CopyContext,
  organizationId: string,
  keys: ReadonlySet<string>,
): Promise<void> => {
  const { db } = context
  let after = ''
  for (;;) {
    const { rows } = await sql<{ name: string; key: string }>`
      select name, object_key as key from copy_chunks
      where organization_id = ${organizationId} and name > ${after} order by name limit ${batch}`.execute(db)
    const missing: string[] = []
    for (const { key } of rows) if (!keys.has(key) && (await isMissing(context, key))) missing.push(key)
    await sql`delete from copy_chunks where organization_id = ${organizationId}
      and object_key = any(${missing}::text[])`.execute(db)
    const last = rows.at(-1)
    if (rows.length < batch || !last) return
    after = last.name
  }
}

type Verified = { id: string; organizationId: string; snapshotId: string; lacksChunk: boolean }

const checkOrganization = async (context: CopyContext, organizationId: string): Promise<void> => {
  const { db, store, clock, logger } = context
  const keys = new Set<string>()
  for await (const { key } of store.list(`${organizationId}/`)) keys.add(key)
  await removeMissingChunks(context, organizationId, keys)
  // Queried only now, so that copies are among them that were published with a chunk whose row was just removed.
  const { rows } = await sql<Verified>`
    select c.id, c.organization_id as "organizationId", c.snapshot_id as "snapshotId",
      exists (select 1 from copy_chunk_uses u where u.copy_id = c.id and not exists (select 1 from copy_chunks k
        where k.organization_id = u.organization_id and k.name = u.name)) as "lacksChunk"
    from copies c where c.organization_id = ${organizationId} and c.verified_at is not null`.execute(db)
  const broken: string[] = []
  for (const copy of rows) {
    const manifest = manifestKey(organizationId, copy.id)
    if (!copy.lacksChunk && (keys.has(manifest) || !(await isMissing(context, manifest)))) continue
    // Null: the copy was deleted meanwhile.
    if (await recordDamage(db, copy, { chunkNames: [], chunkKeys: [] }, clock.now()))
      broken.push(copy.snapshotId)
  }
  for (const id of await failUnkeptSnapshots(db, broken))
    logger.error(
      { snapshotId: id, organizationId },
      'objects of a copy were removed since the backup and no host keeps the capture; the Snapshot has failed',
    )
}

/** Compares all copies with the object store, once per epoch. Does nothing if this epoch was checked. */
export async function checkCopies(context: CopyContext): Promise<void> {
  const epoch = await isDue(context)
  if (epoch === null) return
  for (const organizationId of await organizations(context)) await checkOrganization(context, organizationId)
  await markCopiesChecked(context.db, epoch)
}

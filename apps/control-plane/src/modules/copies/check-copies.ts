/**
 * Checks all copies after a restore of the database, which may refer to objects that were removed since the backup. A copy
 * with missing objects is made again if a host keeps the capture. Otherwise its Snapshot fails.
 */
import { sql } from 'kysely'
import { failUnkeptSnapshots } from '../captures/index.ts'
import { markCopiesChecked } from '../lineage/index.ts'
import { type CopyContext, manifestKey } from './copy-context.ts'
import { recordDamage } from './drill-store.ts'

const batch = 5_000

const isDue = async ({ db }: CopyContext): Promise<number | null> =>
  (
    await sql<{ epoch: number }>`select epoch from instance_epoch
      where begun_at is not null and copies_checked < epoch`.execute(db)
  ).rows[0]?.epoch ?? null

const organizations = async ({ db }: CopyContext): Promise<string[]> =>
  (
    await sql<{ id: string }>`select distinct organization_id as id from copies
      where verified_at is not null`.execute(db)
  ).rows.map(({ id }) => id)

type Chunk = { name: string; key: string }

/** Returns the organization's chunks whose object key is not in `keys`. */
const missingChunks = async (
  { db }: CopyContext,
  organizationId: string,
  keys: ReadonlySet<string>,
): Promise<Chunk[]> => {
  const missing: Chunk[] = []
  let after = ''
  for (;;) {
    const { rows } = await sql<Chunk>`select name, object_key as key from copy_chunks
      where organization_id = ${organizationId} and name > ${after} order by name limit ${batch}`.execute(db)
    missing.push(...rows.filter(({ key }) => !keys.has(key)))
    const last = rows.at(-1)
    if (rows.length < batch || !last) return missing
    after = last.name
  }
}

type Verified = { id: string; organizationId: string; snapshotId: string; usesMissing: boolean }

const checkOrganization = async (context: CopyContext, organizationId: string): Promise<void> => {
  const { db, store, clock, logger } = context
  const keys = new Set<string>()
  for await (const { key } of store.list(`${organizationId}/`)) keys.add(key)
  const missing = await missingChunks(context, organizationId, keys)
  const names = missing.map(({ name }) => name)
  const { rows } = await sql<Verified>`
    select c.id, c.organization_id as "organizationId", c.snapshot_id as "snapshotId",
      exists (select 1 from copy_chunk_uses u where u.copy_id = c.id and u.name = any(${names}::text[])) as "usesMissing"
    from copies c where c.organization_id = ${organizationId} and c.verified_at is not null`.execute(db)
  const broken = rows.filter((copy) => copy.usesMissing || !keys.has(manifestKey(organizationId, copy.id)))
  for (const copy of broken)
    await recordDamage(db, copy, { chunkNames: names, chunkKeys: missing.map(({ key }) => key) }, clock.now())
  const lost = await failUnkeptSnapshots(
    db,
    broken.map(({ snapshotId }) => snapshotId),
  )
  for (const id of lost)
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

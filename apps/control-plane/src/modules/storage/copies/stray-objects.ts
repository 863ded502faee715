/**
 * Finds objects in the object store that no row refers to. Objects of copies that the database knows to have ended are
 * removed. Objects of copies that the database does not know are kept and put into quarantine, one item per copy.
 */
import { sql } from 'kysely'
import type { StoredObject } from '../../../object-store/index.ts'
import { quarantineObjects, type UnknownObjects } from '../../hosts/index.ts'
import { markObjectsChecked } from '../../lineage/index.ts'
import type { CopyContext } from './copy-context.ts'

const batch = 500
/** How long ended copies are remembered. Their objects are found within hours; found later, they would be quarantined. */
const endedKeptMs = 90 * 24 * 3_600_000
/** Matches `<organization>/chunks/<xx>/<name>-<copy>` and `<organization>/copies/<copy>/<part>`. */
const keyPattern =
  /^(?<organizationId>[0-9a-f-]{36})\/(?:chunks\/.*-(?<ofChunk>[0-9a-f-]{36})|copies\/(?<ofPart>[0-9a-f-]{36})\/.*)$/

type Stray = { key: string; organizationId: string; copyId: string; sizeBytes: number }

/** Parses the keys of objects. Objects with other keys are ignored. */
const parseKeys = (objects: readonly StoredObject[]): Stray[] =>
  objects.flatMap(({ key, sizeBytes }) => {
    const { organizationId, ofChunk, ofPart } = keyPattern.exec(key)?.groups ?? {}
    const copyId = ofChunk ?? ofPart
    return organizationId && copyId ? [{ key, organizationId, copyId, sizeBytes }] : []
  })

/** Returns the objects that belong to no recorded chunk or running copy. `isOver`: the object can be removed. */
const findStrays = async (
  { db }: CopyContext,
  objects: readonly Stray[],
): Promise<(Stray & { isOver: boolean })[]> =>
  (
    await sql<Stray & { isOver: boolean }>`
      select k.key, k."organizationId", k."copyId", k."sizeBytes", exists (select 1 from copies c where c.id = k."copyId")
          or exists (select 1 from ended_copies e cross join instance_epoch i where e.id = k."copyId"
            and (i.begun_at is null or e.begun_at >= i.begun_at))
          or exists (select 1 from quarantine q where q.kind = 'objects' and q.thing_id = k."copyId"
            and q.state = 'deleted')
          or exists (select 1 from erasures e
            where e.kind = 'organization' and e.id = k."organizationId"::text) as "isOver"
      from jsonb_to_recordset(${JSON.stringify(objects)}::jsonb)
        as k(key text, "organizationId" uuid, "copyId" uuid, "sizeBytes" bigint)
      where not exists (select 1 from copy_chunks c where c.object_key = k.key)
        and not exists (select 1 from copies c where c.id = k."copyId"
          and (c.verified_at is null or split_part(k.key, '/', 2) = 'copies'))`.execute(db)
  ).rows

const quarantineUnknown = async (
  { db, clock, logger }: CopyContext,
  unknown: readonly UnknownObjects[],
): Promise<void> => {
  for (const { id, copyId, organizationId } of await quarantineObjects(db, unknown, clock.now()))
    logger.warn(
      { quarantineId: id, copyId, organizationId },
      'objects of a copy that the database does not know are now in quarantine; decide with script/admin quarantine',
    )
}

/** Lists the whole object store once. Returns how many objects were removed. */
export async function sweepStrayObjects(context: CopyContext): Promise<number> {
  const { db, store, clock, settings } = context
  const before = clock.now().getTime() - settings.graceMs
  const unknown = new Map<string, UnknownObjects>()
  let removed = 0
  let page: StoredObject[] = []
  const flush = async (): Promise<void> => {
    for (const { key, isOver, copyId, organizationId, sizeBytes } of await findStrays(
      context,
      parseKeys(page),
    )) {
      if (isOver) {
        await store.delete(key)
        removed += 1
        continue
      }
      const known = unknown.get(copyId)?.sizeBytes ?? 0
      unknown.set(copyId, { copyId, organizationId, sizeBytes: known + Number(sizeBytes) })
    }
    page = []
  }
  for await (const object of store.list('')) {
    if (object.modifiedAt.getTime() >= before) continue
    if (page.push(object) >= batch) await flush()
  }
  if (page.length > 0) await flush()
  if (unknown.size > 0) await quarantineUnknown(context, [...unknown.values()])
  await sql`delete from ended_copies where begun_at < ${new Date(clock.now().getTime() - endedKeptMs)}`.execute(
    db,
  )
  // Copies made between the backup and the restore are known only now. They may use chunks that no row refers to.
  await markObjectsChecked(db, new Date(before))
  return removed
}

import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Records that a host received an image, so that Docks can be placed there before its next inventory. */
export async function noteImage(
  db: Db,
  hostId: string,
  { name, digest }: { name: string; digest: string },
): Promise<void> {
  await sql`update hosts set images = array(select distinct unnest(images || ${name}::text) order by 1),
    image_versions = image_versions || jsonb_build_object(${name}::text, ${digest}::text)
    where id = ${hostId}`.execute(db)
}

/** Records that a host has removed an image. */
export async function forgetImage(db: Db, hostId: string, name: string): Promise<void> {
  await sql`update hosts set images = array_remove(images, ${name}), image_versions = image_versions - ${name}::text
    where id = ${hostId}`.execute(db)
}

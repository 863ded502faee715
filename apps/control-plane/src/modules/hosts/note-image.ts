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

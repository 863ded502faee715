/** The only SQL for versions of images, and for which host has which. No tenant owns them. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type ImageVersion = { id: string; name: string; builtAs: string; digest: string | null }
export type HostImages = { id: string; isBuilder: boolean; versions: Readonly<Record<string, string>> }

/** Of these hosts those that are online, each with the versions of its images by name. */
export async function hostImages(db: Db, hosts: readonly string[]): Promise<HostImages[]> {
  return (
    await sql<HostImages>`select id, is_builder as "isBuilder", image_versions as versions
      from hosts
      where state = 'online' and id = any(${hosts}::uuid[]) order by created_at, id`.execute(db)
  ).rows
}

/** Every version, the newest first. */
export async function listVersions(db: Db): Promise<ImageVersion[]> {
  return (
    await sql<ImageVersion>`select id, name, built_as as "builtAs", digest from image_versions
      order by created_at desc, id desc`.execute(db)
  ).rows
}

/** The row of a build, made when there is none. */
export async function beginVersion(
  db: Db,
  build: { name: string; builtAs: string; now: Date },
): Promise<string> {
  return (
    await sql<{ id: string }>`insert into image_versions (id, name, built_as, created_at)
      values (${newUuid()}, ${build.name}, ${build.builtAs}, ${build.now})
      on conflict (name, built_as) do update set name = excluded.name returning id`.execute(db)
  ).rows[0]!.id
}

/** Publishes the version: it is its name's current one unless a newer is. */
export async function saveDigest(db: Db, id: string, digest: string): Promise<void> {
  await sql`update image_versions set digest = ${digest} where id = ${id} and digest is null`.execute(db)
}

/** Notes what a host was given, so that Docks go there before its next report. */
export async function noteDelivery(
  db: Db,
  hostId: string,
  { name, digest }: { name: string; digest: string },
): Promise<void> {
  await sql`update hosts set images = array(select distinct unnest(images || ${name}::text) order by 1),
    image_versions = image_versions || jsonb_build_object(${name}::text, ${digest}::text)
    where id = ${hostId}`.execute(db)
}

/**
 * Drops versions that are no more current and that no Dock goes back to (Snapshots and Templates stay with their Dock),
 * nor any host has; a sweep of copies then removes their objects. Answers their names.
 */
export async function dropUnneededVersions(db: Db, before: Date): Promise<string[]> {
  return (
    await sql<{ name: string }>`delete from image_versions v
      where v.created_at < ${before}
        and exists (select 1 from image_versions n where n.name = v.name and n.digest is not null
          and (n.created_at, n.id) > (v.created_at, v.id))
        and not exists (select 1 from docks d where d.image_version in (v.digest, v.built_as))
        and not exists (select 1 from hosts h where h.image_versions ->> v.name in (v.digest, v.built_as))
      returning v.name`.execute(db)
  ).rows.map(({ name }) => name)
}

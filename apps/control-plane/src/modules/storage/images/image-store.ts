/** The only SQL for image versions and for the versions that each host has. Images belong to no tenant. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export type ImageVersion = { id: string; name: string; builtAs: string; digest: string | null }
/** `builtAs`: the build that a builder has now, or null if none has the image. */
export type BuiltImage = { name: string; builtAs: string | null; version: string; available: boolean }
export type HostImages = { id: string; isBuilder: boolean; versions: Readonly<Record<string, string>> }

/** Returns the online hosts among `hosts`, each with the versions of its images by name. */
export async function listHostImages(db: Db, hosts: readonly string[]): Promise<HostImages[]> {
  return (
    await sql<HostImages>`select id, is_builder as "isBuilder", image_versions as versions
      from hosts
      where state = 'online' and id = any(${hosts}::uuid[]) order by created_at, id`.execute(db)
  ).rows
}

/**
 * Returns each image that a builder has built or that was published, with its version and whether an online host has it.
 * Images that only other hosts claim to have are left out.
 */
export async function listBuiltImages(db: Db): Promise<BuiltImage[]> {
  return (
    await sql<BuiltImage>`
      with built as (
        select distinct on (b.key) b.key as name, b.value as built_as from hosts h, jsonb_each_text(h.image_versions) b
        where h.is_builder and b.value like 'built:%' order by b.key, h.state = 'online' desc, h.created_at, h.id),
      published as (
        select distinct on (name) name, digest from image_versions where digest is not null
        order by name, created_at desc, id desc)
      select coalesce(b.name, p.name) as name,
        b.built_as as "builtAs",
        coalesce((select v.digest from image_versions v where v.name = b.name and v.built_as = b.built_as),
          b.built_as, p.digest) as version,
        exists (select 1 from hosts h where h.state = 'online' and coalesce(b.name, p.name) = any(h.images)) as available
      from built b full join published p on p.name = b.name order by 1`.execute(db)
  ).rows
}

/** Returns all versions, newest first. */
export async function listVersions(db: Db): Promise<ImageVersion[]> {
  return (
    await sql<ImageVersion>`select id, name, built_as as "builtAs", digest from image_versions
      order by created_at desc, id desc`.execute(db)
  ).rows
}

/** Returns the id of a build's version. Inserts its row if there is none. */
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

/** Publishes the version. It becomes the current version of its image unless a newer one is published. */
export async function saveDigest(db: Db, id: string, digest: string): Promise<void> {
  await sql`update image_versions set digest = ${digest} where id = ${id} and digest is null`.execute(db)
}

/** Returns the hosts, also silent ones, that may publish the image because they are builders and have built it. */
export async function listBuildersOf(db: Db, name: string): Promise<{ id: string; state: string }[]> {
  return (
    await sql<{ id: string; state: string }>`select id, state from hosts
      where is_builder and image_versions ->> ${name}::text like 'built:%' order by created_at, id`.execute(
      db,
    )
  ).rows
}

/** Deletes all versions of an image, and records those that hosts may have. A sweep of copies removes the objects. */
export async function removeVersions(db: Db, name: string, now: Date): Promise<void> {
  await sql`
    with gone as (delete from image_versions where name = ${name} returning digest)
    insert into removed_images (digest, name, removed_at) select digest, ${name}, ${now} from gone
    where digest is not null on conflict (digest) do nothing`.execute(db)
}

/** Returns the published versions that were removed and not published again. */
export async function listRemoved(db: Db): Promise<{ name: string; digest: string }[]> {
  return (
    await sql<{ name: string; digest: string }>`select name, digest from removed_images r
      where not exists (select 1 from image_versions v where v.digest = r.digest) order by digest`.execute(db)
  ).rows
}

/**
 * Deletes versions from before `before` that are not current, that no Dock was created from and that no host has. Snapshots
 * and Templates need no check, because they belong to a Dock. A sweep of copies removes the objects. Returns the names.
 */
export async function dropUnneededVersions(db: Db, before: Date): Promise<string[]> {
  return (
    await sql<{ name: string }>`delete from image_versions v
      where v.created_at < ${before}
        and exists (select 1 from image_versions n where n.name = v.name and n.digest is not null
          and (n.created_at, n.id) > (v.created_at, v.id))
        and not exists (select 1 from machines d where d.image_version in (v.digest, v.built_as))
        and not exists (select 1 from hosts h where h.image_versions ->> v.name in (v.digest, v.built_as))
      returning v.name`.execute(db)
  ).rows.map(({ name }) => name)
}

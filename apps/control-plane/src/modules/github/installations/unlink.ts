/** Ends links: by a person, or because GitHub says that the App no longer has the repository. */
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import type { RunSink } from '../run-triggers.ts'

type Unlinked = { installationId: string; repositoryId: number }

/**
 * Deletes the links that the condition selects (`r` is the repository, `i` its installation) and the installations that
 * have none left, and tells the Runs. All in the caller's transaction.
 */
const unlink = async (tx: Tx, runs: RunSink, condition: RawBuilder<unknown>): Promise<void> => {
  const { rows } = await sql<Unlinked>`delete from github_repositories r using github_installations i
    where i.id = r.installation_id and ${condition}
    returning r.installation_id as "installationId", r.repository_id as "repositoryId"`.execute(tx)
  for (const [installationId, links] of Map.groupBy(rows, (row) => row.installationId)) {
    await sql`delete from github_installations i where id = ${installationId}
      and not exists (select 1 from github_repositories where installation_id = i.id)`.execute(tx)
    const repositoryIds = links.map(({ repositoryId }) => repositoryId)
    await runs.signalRun(tx, { kind: 'unlinked', installationId, repositoryIds })
  }
}

/** Unlinks one installation, whose tenant the caller has checked. */
export async function unlinkInstallationRow(tx: Tx, runs: RunSink, id: string): Promise<void> {
  await unlink(tx, runs, sql`i.id = ${id}`)
  // An installation may have lost its last repository before.
  await sql`delete from github_installations where id = ${id}`.execute(tx)
}

/** Unlinks repositories that an installation of the provider no longer has. Null: all of them. */
export async function unlinkAtProvider(
  tx: Tx,
  runs: RunSink,
  providerInstallationId: number,
  repositoryIds: readonly number[] | null,
): Promise<void> {
  const chosen = repositoryIds === null ? sql`true` : sql`r.repository_id = any(${repositoryIds}::bigint[])`
  await unlink(tx, runs, sql`i.provider_installation_id = ${providerInstallationId} and ${chosen}`)
}

/**
 * Unlinks a repository, whichever installation it was linked by. With `owner`, only if that is still the owner in its name:
 * a repository that was linked again after its transfer stays.
 */
export async function unlinkRepository(
  tx: Tx,
  runs: RunSink,
  repositoryId: number,
  owner: string | null = null,
): Promise<void> {
  const ofOwner =
    owner === null ? sql`true` : sql`lower(split_part(r.full_name, '/', 1)) = ${owner.toLowerCase()}`
  await unlink(tx, runs, sql`r.repository_id = ${repositoryId} and ${ofOwner}`)
}

/** Unlinks what a deleted organization had linked. */
export async function unlinkOrganization(tx: Tx, runs: RunSink, organizationId: string): Promise<void> {
  await unlink(tx, runs, sql`i.organization_id = ${organizationId}`)
  await sql`delete from github_installations where organization_id = ${organizationId}`.execute(tx)
}

/** Unlinks everything: the App is gone. */
export async function unlinkAll(tx: Tx, runs: RunSink): Promise<void> {
  await unlink(tx, runs, sql`true`)
  await sql`delete from github_installations`.execute(tx)
}

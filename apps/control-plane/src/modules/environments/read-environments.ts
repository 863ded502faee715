/** The route handlers that read Environments. */
import type {
  Environment,
  EnvironmentRepository,
  EnvironmentVersion,
  RevealedSecrets,
  VersionPage,
} from '@dock/contract'
import { byteLength } from '@dock/contract'
import type { Member, Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { openBundle } from './bundle-sealing.ts'
import { formatEnv } from './env-text.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { listDescribedVersionRows, listEnvironmentRows, listVersionRows } from './environment-store.ts'
import { viewEnvironment } from './environment-view.ts'
import { requireEnvironment, targetOf } from './require-environment.ts'

type Reader = Pick<EnvironmentContext, 'db'>

export async function listEnvironments({ db }: Reader, caller: Member): Promise<Environment[]> {
  return (await listEnvironmentRows(db, caller.organizationId)).map(viewEnvironment)
}

export async function readEnvironment(
  context: Reader,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<Environment> {
  return viewEnvironment(await requireEnvironment(context, caller, reference))
}

export async function listRepositories(
  context: Reader,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<EnvironmentRepository[]> {
  return (await requireEnvironment(context, caller, reference)).repositories
}

/** Returns the versions, newest first, with the number of Docks pinned to each. */
export async function listVersions(
  context: Reader,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<EnvironmentVersion[]> {
  const { id } = await requireEnvironment(context, caller, reference)
  const rows = await listVersionRows(context.db, id)
  return rows.map(({ version, createdAt, dockCount }) => ({
    version,
    createdAt: createdAt.toISOString(),
    dockCount,
  }))
}

/** Returns a page of the versions, newest first, with the names of their contents. */
export async function listDescribedVersions(
  context: Reader,
  caller: Visitor,
  reference: EnvironmentReference,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<VersionPage> {
  const { id } = await requireEnvironment(context, caller, reference)
  const rows = await listDescribedVersionRows(context.db, id, { limit: limit + 1, before: before ?? null })
  const versions = rows.slice(0, limit).map(({ createdAt, repositories, ...version }) => ({
    ...version,
    createdAt: createdAt.toISOString(),
    repos: repositories,
  }))
  return { versions, nextBefore: rows.length > limit ? (versions.at(-1)?.version ?? null) : null }
}

/**
 * Returns the secrets of the current version in plain text, once that stands in the audit log. `envContents` is in the format that `PUT secrets` accepts.
 */
export async function revealSecrets(
  context: Pick<EnvironmentContext, 'db' | 'clock' | 'sealer'>,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<RevealedSecrets> {
  const environment = await requireEnvironment(context, caller, reference)
  const { organizationId, versionId, sealed, currentVersion } = environment
  const { variables, files } = await openBundle(context.sealer, { organizationId, versionId }, sealed)
  await recordAudit(context.db, caller, {
    action: 'environment.secrets_revealed',
    now: context.clock.now(),
    ...targetOf(environment),
    details: { version: currentVersion },
  })
  return {
    envContents: formatEnv(variables),
    secretFiles: Object.entries(files)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, contents]) => ({ path, size: byteLength(contents), contents })),
  }
}

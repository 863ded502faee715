/** The routes that read Environments. */
import type { Environment, EnvironmentRepository, EnvironmentVersion, RevealedSecrets } from '@dock/contract'
import { byteLength } from '@dock/contract'
import type { Member, Visitor } from '../../accounts/index.ts'
import { openBundle } from '../bundle-sealing.ts'
import { formatEnv } from '../env-text.ts'
import type { EnvironmentContext, EnvironmentReference } from '../environment-context.ts'
import { listEnvironmentRows, listVersionRows } from '../environment-store.ts'
import { viewEnvironment } from '../environment-view.ts'
import { requireEnvironment } from '../require-environment.ts'

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

/** Versions newest first, each with the number of Docks that are pinned to it. */
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

/** Variables, in a text that `PUT secrets` takes, and secret files of the current version. */
export async function revealSecrets(
  context: Pick<EnvironmentContext, 'db' | 'sealer'>,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<RevealedSecrets> {
  const { organizationId, versionId, sealed } = await requireEnvironment(context, caller, reference)
  const { variables, files } = await openBundle(context.sealer, { organizationId, versionId }, sealed)
  return {
    envContents: formatEnv(variables),
    secretFiles: Object.entries(files)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, contents]) => ({ path, size: byteLength(contents), contents })),
  }
}

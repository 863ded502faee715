/**
 * Prepares the variables and files with which an Environment is applied to a Dock. The version's posture decides what it
 * passes; `safeForThirdParties` withholds everything. Each time, the Dock gets a new key. Its earlier keys are revoked in
 * any case: here for a boot, and for a running Dock by the caller, once the version is applied.
 */
import { requireApplicableFiles } from '@dock/contract'
import { sql } from 'kysely'
import { deleteDockKeysSql, issueDockKey, openProviderKeys } from '../keys/index.ts'
import { openBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'
import type { Posture } from './environment-store.ts'

/**
 * `liveVersion` is the version to apply to a running Dock. It is undefined for a boot, which uses the pinned version.
 */
type Target = { organizationId: string; dockId: string; liveVersion?: number }
export type Applied = { env: Record<string, string>; files?: { path: string; contents: string }[] }

type Pinned = Posture & {
  versionId: string
  sealed: string | null
  /** True if the bundle was cleared. Docks cannot start from this version any more. */
  isCleared: boolean
  createdBy: string
  /** True if the disk may contain files of an Environment. */
  isMarked: boolean
}

/** Reads the version to apply. If `endsKeys` is true, the same statement deletes the Dock's earlier keys. */
const findPinnedVersion = async (
  { db }: Pick<EnvironmentContext, 'db'>,
  { organizationId, dockId, liveVersion }: Target,
  endsKeys: boolean,
): Promise<Pinned | null> =>
  (
    await sql<Pinned>`
      with ended as (${deleteDockKeysSql(dockId, sql<boolean>`${endsKeys}::boolean`)})
      select v.id as "versionId", v.bundle_sealed as sealed,
        v.bundle_cleared_at is not null as "isCleared", d.created_by as "createdBy", d.marks <> '{}' as "isMarked",
        v.safe_for_third_parties or d.no_env as "safeForThirdParties", v.pass_github as "passGithub",
        v.pass_secrets as "passSecrets",
        -- The key of a Dock opens that Dock, and the machine of a fast Run is none.
        v.pass_dock_credentials and d.run_id is null as "passDockCredentials",
        -- The agent of a Run reaches its model through a door, so its machine holds no key of the provider.
        v.pass_agents_credentials and d.run_id is null
          and not exists (select 1 from runs r where r.dock_id = d.id) as "passAgentsCredentials"
      from machines d join environment_versions v
        on v.environment_id = d.environment_id and v.version = coalesce(${liveVersion ?? null}::int, d.environment_version)
      where d.id = ${dockId} and d.organization_id = ${organizationId}`.execute(db)
  ).rows[0] ?? null

/** The environment variables from which agents read the keys of model providers. */
const agentVariables = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  opencode: 'OPENCODE_API_KEY',
} as const

/** Decrypts the variables and files that the version passes, except for the Dock's own key. */
const openPassed = async (
  { db, sealer }: Pick<EnvironmentContext, 'db' | 'sealer'>,
  { organizationId }: Target,
  pinned: Pinned,
): Promise<{ env: Record<string, string>; files: { path: string; contents: string }[] }> => {
  const env: Record<string, string> = {}
  if (pinned.safeForThirdParties) return { env, files: [] }
  if (pinned.passAgentsCredentials)
    for (const { provider, key } of await openProviderKeys({ db, sealer }, organizationId))
      env[agentVariables[provider]] = key
  if (!pinned.passSecrets) return { env, files: [] }
  const { versionId, sealed } = pinned
  if (pinned.isCleared)
    throw new Error(`the bundle of Environment version ${versionId} was cleared; no Dock can start from it`)
  const bundle = await openBundle(sealer, { organizationId, versionId }, sealed)
  requireApplicableFiles(Object.keys(bundle.files))
  Object.assign(env, bundle.variables)
  return { env, files: Object.entries(bundle.files).map(([path, contents]) => ({ path, contents })) }
}

/**
 * Returns the variables and files to apply, including a new key for the Dock if the version passes one. `files` is
 * absent if there are none to write and the disk has no earlier ones to remove.
 */
export async function prepareApply(
  context: Pick<EnvironmentContext, 'db' | 'clock' | 'sealer'>,
  target: Target,
): Promise<Applied> {
  const { db, clock } = context
  const { dockId } = target
  const pinned = await findPinnedVersion(context, target, target.liveVersion === undefined)
  if (!pinned) return { env: {} }
  const { env, files } = await openPassed(context, target, pinned)
  if (pinned.passDockCredentials && !pinned.safeForThirdParties) {
    const { organizationId } = target
    const key = await issueDockKey(db, { dockId, organizationId, userId: pinned.createdBy, now: clock.now() })
    if (key !== null) env.DOCK_API_KEY = key
  }
  return files.length > 0 || pinned.isMarked ? { env, files } : { env }
}

/** Returns the secret values that the Environment passes to the Dock, so that they can be redacted from output. */
export async function listPassedSecrets(
  context: Pick<EnvironmentContext, 'db' | 'sealer'>,
  target: Target,
): Promise<{ variables: string[]; files: string[] }> {
  const pinned = await findPinnedVersion(context, target, false)
  if (!pinned) return { variables: [], files: [] }
  const { env, files } = await openPassed(context, target, pinned)
  return { variables: Object.values(env), files: files.map(({ contents }) => contents) }
}

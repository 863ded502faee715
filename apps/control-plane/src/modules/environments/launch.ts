/**
 * What an Environment passes on to one Dock. Posture decides: `safeForThirdParties` withholds all of it; a Dock's own key
 * is new at each delivery. Earlier keys end whatever is passed: here for a boot, after the delivery for a running Dock.
 */
import { sql } from 'kysely'
import { endDockKeys, issueDockKey, openProviderKeys } from '../keys/index.ts'
import { openBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'
import type { Posture } from './environment-store.ts'

type Target = { organizationId: string; dockId: string; liveVersion?: number }
export type Launched = { env: Record<string, string>; files?: { path: string; contents: string }[] }

type Pinned = Posture & {
  versionId: string
  sealed: string | null
  /** The bundle was cleared: nothing may start from the version any more. */
  isCleared: boolean
  createdBy: string
  /** The disk may hold files of an Environment. */
  isMarked: boolean
}

/** `endsKeys`: the Dock's keys of before end with the same statement, whatever the version passes. */
const pinnedVersion = async (
  { db }: Pick<EnvironmentContext, 'db'>,
  { organizationId, dockId, liveVersion }: Target,
  endsKeys: boolean,
): Promise<Pinned | null> =>
  (
    await sql<Pinned>`
      with ended as (${endDockKeys(dockId, sql<boolean>`${endsKeys}::boolean`)})
      select v.id as "versionId", v.bundle_sealed as sealed,
        v.bundle_cleared_at is not null as "isCleared", d.created_by as "createdBy", d.marks <> '{}' as "isMarked",
        v.safe_for_third_parties or d.no_env as "safeForThirdParties", v.pass_github as "passGithub",
        v.pass_secrets as "passSecrets", v.pass_dock_credentials as "passDockCredentials",
        v.pass_agents_credentials as "passAgentsCredentials"
      from docks d join environment_versions v
        on v.environment_id = d.environment_id and v.version = coalesce(${liveVersion ?? null}::int, d.environment_version)
      where d.id = ${dockId} and d.organization_id = ${organizationId}`.execute(db)
  ).rows[0] ?? null

/** The variables in which agents look for the keys of model providers. */
const agentVariables = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  opencode: 'OPENCODE_API_KEY',
} as const

/** What the version passes on, but for the Dock's own key. */
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
  if (pinned.isCleared) throw new Error(`the bundle of version ${versionId} was cleared`)
  const bundle = await openBundle(sealer, { organizationId, versionId }, sealed)
  Object.assign(env, bundle.variables)
  return { env, files: Object.entries(bundle.files).map(([path, contents]) => ({ path, contents })) }
}

/** `files` is left out where the Dock neither gets any nor may have some of before. */
export async function launchEnvironment(
  context: Pick<EnvironmentContext, 'db' | 'clock' | 'sealer'>,
  target: Target,
): Promise<Launched> {
  const { db, clock } = context
  const { dockId } = target
  const pinned = await pinnedVersion(context, target, target.liveVersion === undefined)
  if (!pinned) return { env: {} }
  const { env, files } = await openPassed(context, target, pinned)
  if (pinned.passDockCredentials && !pinned.safeForThirdParties) {
    const { organizationId } = target
    const key = await issueDockKey(db, { dockId, organizationId, userId: pinned.createdBy, now: clock.now() })
    if (key !== null) env.DOCK_API_KEY = key
  }
  return files.length > 0 || pinned.isMarked ? { env, files } : { env }
}

/** The values that a Dock was given by its Environment, for taking them out of what people will read. */
export async function passedSecrets(
  context: Pick<EnvironmentContext, 'db' | 'sealer'>,
  target: Target,
): Promise<{ variables: string[]; files: string[] }> {
  const pinned = await pinnedVersion(context, target, false)
  if (!pinned) return { variables: [], files: [] }
  const { env, files } = await openPassed(context, target, pinned)
  return { variables: Object.values(env), files: files.map(({ contents }) => contents) }
}

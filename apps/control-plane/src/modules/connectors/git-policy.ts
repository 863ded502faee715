/**
 * The policy of the git door: which repositories a Dock may read or write, and which branches it may
 * push to. The git door does not know Environments or Runs. Its caller derives the policy from them.
 */
import type { GitProvider } from '@dock/contract'

export type GitAccess = 'read' | 'write'

export type GitRule = {
  readonly provider: GitProvider
  /** Owner and name, for example `acme/app`. */
  readonly fullName: string
  /** Its name at the provider since it was renamed. The Dock knows the former one. */
  readonly nowNamed?: string
  readonly access: GitAccess
  /**
   * Branches that may be created and updated. Tags and deletions are refused. `agent/*` matches all branches that start
   * with `agent/`. Null allows everything that the provider allows.
   */
  readonly branches: readonly string[] | null
}

export type GitPolicy = readonly GitRule[]

export type NamedRepository = Pick<GitRule, 'provider' | 'fullName'>

/** Returns the rule for this repository, or null. Names are compared without case, as the providers do. */
export function findRule<Rule extends NamedRepository>(
  policy: readonly Rule[],
  { provider, fullName }: NamedRepository,
): Rule | null {
  return (
    policy.find(
      (rule) => rule.provider === provider && rule.fullName.toLowerCase() === fullName.toLowerCase(),
    ) ?? null
  )
}

/** One ref that a push changes. */
export type RefUpdate = { ref: string; isDelete: boolean }

const branchPrefix = 'refs/heads/'

const matchesAny = (branch: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('*') ? branch.startsWith(pattern.slice(0, -1)) : branch === pattern,
  )

/** Returns why a push may not update this ref, as a message for the user of git, or null if it may. */
export function findPushRefusal(
  { access, branches }: Pick<GitRule, 'access' | 'branches'>,
  { ref, isDelete }: RefUpdate,
): string | null {
  if (access !== 'write') return 'this Dock may only read the repository'
  if (branches === null) return null
  if (!ref.startsWith(branchPrefix)) return 'this Dock may push branches only'
  if (!matchesAny(ref.slice(branchPrefix.length), branches)) return 'this Dock may not push to this branch'
  return isDelete ? 'this Dock may not delete branches' : null
}

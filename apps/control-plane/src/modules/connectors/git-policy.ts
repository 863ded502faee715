/**
 * What may pass a git door: repositories by provider, owner and name, each for reading or writing, and where it is
 * written, to which branches. A door knows nothing of Environments or Runs; whoever opens it to a Dock makes the policy.
 */
import type { GitProvider } from '@dock/contract'

export type GitAccess = 'read' | 'write'

export type GitRule = {
  readonly provider: GitProvider
  /** Owner and name, `acme/app`. */
  readonly fullName: string
  readonly access: GitAccess
  /**
   * Branches that may be created and moved, and nothing else: no tag, no deletion. `agent/*` stands for all branches that
   * begin so. Null: whatever the provider allows.
   */
  readonly branches: readonly string[] | null
}

export type GitPolicy = readonly GitRule[]

export type NamedRepository = Pick<GitRule, 'provider' | 'fullName'>

/** The rule for exactly this repository. The providers' names have no case. */
export function ruleFor<Rule extends NamedRepository>(
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

const isNamed = (branch: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('*') ? branch.startsWith(pattern.slice(0, -1)) : branch === pattern,
  )

/** Why this push may not pass, in a few words; null when it may. */
export function refusalOfUpdate(
  { access, branches }: Pick<GitRule, 'access' | 'branches'>,
  { ref, isDelete }: RefUpdate,
): string | null {
  if (access !== 'write') return 'this Dock may only read the repository'
  if (branches === null) return null
  if (!ref.startsWith(branchPrefix)) return 'this Dock may push branches only'
  if (!isNamed(ref.slice(branchPrefix.length), branches)) return 'this Dock may not push to this branch'
  return isDelete ? 'this Dock may not delete branches' : null
}

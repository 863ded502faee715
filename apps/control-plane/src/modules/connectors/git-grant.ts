/**
 * The access of one boot of a Dock to Git: a policy, and the credentials that the git gateway adds outside the Dock.
 */
import type { Logger } from '@dock/foundation'
import type { BootedDock } from '../docks/index.ts'
import { type EnvironmentContext, readPinnedRepositories } from '../environments/index.ts'
import type { Connector, GitCredential } from './connector.ts'
import type { GitPolicy, GitRule } from './git-policy.ts'

export type GitGrant = {
  policy: GitPolicy
  /** Returns null if no account gives access; public repositories work without. Throws ProviderUnavailable. */
  credentialFor(rule: GitRule): Promise<GitCredential | null>
  /** Discards a cached credential that the provider refused, so that it is not returned again. */
  forget(credential: GitCredential): void
}

/** Returns the grant of a Dock, or null if it has no repositories in this boot on this host. */
export type GrantFor = (dock: BootedDock) => Promise<GitGrant | null>

/** Grants read and write access on all branches to the repositories that the Dock's pinned version passes. */
export function createEnvironmentGrants(
  context: Pick<EnvironmentContext, 'db' | 'sealer'> & { logger: Logger },
  connector: Connector,
): GrantFor {
  const { logger } = context
  return async (dock) => {
    const passed = await readPinnedRepositories(context, dock)
    if (!passed) return null
    const rules = passed.repositories.map((repository) => ({
      rule: {
        provider: repository.provider,
        fullName: repository.fullName,
        access: 'write' as const,
        branches: null,
      },
      repository,
    }))
    return {
      policy: rules.map(({ rule }) => rule),
      credentialFor: async (rule) => {
        const repository = rules.find((each) => each.rule === rule)?.repository
        if (!repository) return null
        const credential = await connector.tokenFor(passed.organizationId, repository, rule.access)
        if (!credential)
          logger.info(
            { dockId: dock.dockId, repositoryId: repository.id },
            'no linked account has access to the repository',
          )
        return credential
      },
      forget: connector.forget,
    }
  }
}

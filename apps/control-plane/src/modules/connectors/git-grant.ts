/** What git in one boot of a Dock is granted: a policy, and the credentials that the door adds outside the Dock. */
import type { Logger } from '@dock/foundation'
import type { BootedDock } from '../docks/index.ts'
import { type EnvironmentContext, passedRepositories } from '../environments/index.ts'
import type { Connector, GitCredential } from './connector.ts'
import type { GitPolicy, GitRule } from './git-policy.ts'

export type GitGrant = {
  policy: GitPolicy
  /** Null where nobody lends the Dock a way: what is public passes without. Throws ProviderUnavailable. */
  credentialFor(rule: GitRule): Promise<GitCredential | null>
  /** The provider refused this credential: it is not given again. */
  forget(credential: GitCredential): void
}

/** Null for a Dock that has no repositories in this boot, on this host. */
export type GrantFor = (dock: BootedDock) => Promise<GitGrant | null>

/** Grants what the version passes on that the Dock's Environment is pinned to: reading and writing, all branches. */
export function createEnvironmentGrants(
  context: Pick<EnvironmentContext, 'db' | 'sealer'> & { logger: Logger },
  connector: Connector,
): GrantFor {
  const { logger } = context
  return async (dock) => {
    const passed = await passedRepositories(context, dock)
    if (!passed) return null
    const rules = passed.repositories.map((repository) => ({
      rule: {
        ...{ provider: repository.provider, fullName: repository.fullName },
        ...{ access: 'write' as const, branches: null },
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
            'nobody’s linked sign-in reaches a repository',
          )
        return credential
      },
      forget: connector.forget,
    }
  }
}

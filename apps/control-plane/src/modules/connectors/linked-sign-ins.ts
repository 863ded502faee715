/**
 * A connector that uses linked accounts. A repository is accessed with the account of the admin who added it, and with
 * no other. A user who merely signs in with a provider grants the organization no access.
 */
import { type GitProvider, type Role, roleReaches } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Sealer } from '../../sealing/index.ts'
import {
  findGrants,
  type ProviderGrant,
  replaceGrant,
  type SocialLogins,
  type StoredGrant,
} from '../accounts/index.ts'
import type { Connector } from './connector.ts'
import { gitProviderCalls } from './git-provider.ts'
import { NarrowedTokens } from './narrowed-tokens.ts'

/** A token that expires sooner is refreshed before use, because a clone may take this long. */
const lifeLeftMs = 15 * 60_000

/** Creates the connector. */
export function createLinkedSignIns(options: {
  db: Db
  clock: Clock
  sealer: Sealer
  social: SocialLogins
  /** Returns the user's role in the organization, or null if the user is not a member. */
  roleOf(userId: string, organizationId: string): Promise<Role | null>
}): Connector {
  const { db, clock, sealer, social, roleOf } = options
  const providers = gitProviderCalls(social, () => clock.now())
  const tokens = new NarrowedTokens(clock, lifeLeftMs)
  /** Running refreshes by login. A refresh token works only once, so concurrent callers share one refresh. */
  const renewals = new Map<string, Promise<ProviderGrant | null>>()

  const lifeLeft = ({ expiresAt }: ProviderGrant): number => Date.parse(expiresAt) - clock.now().getTime()

  const renew = async (read: StoredGrant, provider: GitProvider): Promise<ProviderGrant | null> => {
    const { userId, loginId } = read
    // Read the grant again: another refresh may have finished since `read` was loaded.
    const stored = (await findGrants({ db, sealer }, { userId, provider })).find(
      (each) => each.loginId === loginId,
    )
    if (!stored || lifeLeft(stored.grant) > lifeLeftMs) return stored?.grant ?? null
    const { refreshToken } = stored.grant
    if (refreshToken === null) return lifeLeft(stored.grant) > 0 ? stored.grant : null
    const renewed = (await providers[provider]?.renew(refreshToken)) ?? null
    // If the user has linked the account again meanwhile, the newer grant stays stored. The refreshed token still
    // works.
    await replaceGrant({ db, sealer }, stored, renewed)
    return renewed
  }

  const ensureFresh = async (stored: StoredGrant, provider: GitProvider): Promise<ProviderGrant | null> => {
    if (lifeLeft(stored.grant) > lifeLeftMs) return stored.grant
    const { loginId } = stored
    const running =
      renewals.get(loginId) ??
      renew(stored, provider).finally(() => {
        renewals.delete(loginId)
      })
    renewals.set(loginId, running)
    return running
  }

  return {
    tokenFor: async (organizationId, repository, access) => {
      const { provider, addedBy } = repository
      const calls = providers[provider]
      if (!calls || addedBy === null) return null
      const role = await roleOf(addedBy, organizationId)
      if (role === null || !roleReaches(role, 'admin')) return null
      for (const stored of await findGrants({ db, sealer }, { userId: addedBy, provider })) {
        const grant = await ensureFresh(stored, provider)
        const credential =
          grant &&
          (await tokens.get(grant.accessToken, repository, access, () =>
            calls.narrow(grant, repository, access),
          ))
        if (credential) return credential
      }
      return null
    },
    forget: (credential) => void tokens.forget(credential),
  }
}

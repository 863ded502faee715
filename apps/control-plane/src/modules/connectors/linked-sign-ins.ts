/**
 * The connector that linked sign-ins make: a repository is reached as the admin who added it, and as nobody else. Whoever
 * merely signs in with a provider lends the organization nothing.
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

/** A token that runs out sooner is renewed first: a clone may take as long. */
const lifeLeftMs = 15 * 60_000

export function createLinkedSignIns(options: {
  db: Db
  clock: Clock
  sealer: Sealer
  social: SocialLogins
  /** The person's role in the organization; null for who is no member. */
  roleOf(userId: string, organizationId: string): Promise<Role | null>
}): Connector {
  const { db, clock, sealer, social, roleOf } = options
  const providers = gitProviderCalls(social, () => clock.now())
  const tokens = new NarrowedTokens(clock, lifeLeftMs)
  /** A refresh token works once: of many who need it, one renews. */
  const renewals = new Map<string, Promise<ProviderGrant | null>>()

  const lifeLeft = ({ expiresAt }: ProviderGrant): number => Date.parse(expiresAt) - clock.now().getTime()

  const renew = async (read: StoredGrant, provider: GitProvider): Promise<ProviderGrant | null> => {
    const { userId, loginId } = read
    // Another renewal may have ended since it was read.
    const stored = (await findGrants({ db, sealer }, { userId, provider })).find(
      (each) => each.loginId === loginId,
    )
    if (!stored || lifeLeft(stored.grant) > lifeLeftMs) return stored?.grant ?? null
    const { refreshToken } = stored.grant
    if (refreshToken === null) return lifeLeft(stored.grant) > 0 ? stored.grant : null
    const renewed = (await providers[provider]?.renew(refreshToken)) ?? null
    // Where somebody linked anew meanwhile, theirs is kept, and this one works for now.
    await replaceGrant({ db, sealer }, stored, renewed)
    return renewed
  }

  const usable = async (stored: StoredGrant, provider: GitProvider): Promise<ProviderGrant | null> => {
    if (lifeLeft(stored.grant) > lifeLeftMs) return stored.grant
    const { loginId } = stored
    const underWay =
      renewals.get(loginId) ??
      renew(stored, provider).finally(() => {
        renewals.delete(loginId)
      })
    renewals.set(loginId, underWay)
    return underWay
  }

  return {
    tokenFor: async (organizationId, repository, access) => {
      const { provider, addedBy } = repository
      const calls = providers[provider]
      if (!calls || addedBy === null) return null
      const role = await roleOf(addedBy, organizationId)
      if (role === null || !roleReaches(role, 'admin')) return null
      for (const stored of await findGrants({ db, sealer }, { userId: addedBy, provider })) {
        const grant = await usable(stored, provider)
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

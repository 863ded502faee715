/**
 * Stores the tokens that a Git provider issues when a user signs in or links an account, sealed under the user's key.
 * better-auth never stores a token. Only tokens that expire are kept, because Dock cannot revoke the others.
 */
import type { GitProvider } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import type { SealedColumn, Sealer } from '../../../sealing/index.ts'
import { withoutTokens } from './sign-in-tables.ts'

const providerGrant = z.object({
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  expiresAt: z.iso.datetime(),
})
export type ProviderGrant = z.infer<typeof providerGrant>

type Login = { id: string; userId: string; providerId: string }
export type KeepGrant = (login: Login, grant: ProviderGrant) => Promise<void>

export const loginGrantColumn: SealedColumn = {
  table: 'login_accounts',
  column: 'grant_sealed',
  rowIdColumn: 'id',
  ownerKind: 'person',
  ownerColumn: 'user_id',
}

const ownerOf = (id: string) => ({ kind: 'person' as const, id })
const placeOf = (rowId: string) => ({ table: loginGrantColumn.table, column: loginGrantColumn.column, rowId })

type LibraryAccount = {
  accessToken?: string | null | undefined
  refreshToken?: string | null | undefined
  accessTokenExpiresAt?: Date | null | undefined
}

const grantOf = ({
  accessToken,
  refreshToken,
  accessTokenExpiresAt,
}: LibraryAccount): ProviderGrant | null =>
  accessToken && accessTokenExpiresAt
    ? { accessToken, refreshToken: refreshToken ?? null, expiresAt: accessTokenExpiresAt.toISOString() }
    : null

/**
 * Returns better-auth's hooks for creating and updating a login. They remove the tokens before the library writes its
 * row, and pass them to `keep` once the row exists.
 */
export function grantHooks(keep: KeepGrant) {
  // Keyed by request context, which both hooks receive. `before` has the tokens, but only `after` knows the login's id.
  const taken = new WeakMap<object, ProviderGrant>()
  return {
    before: async <Account extends LibraryAccount>(account: Account, context: object | null) => {
      const grant = grantOf(account)
      if (grant && context) taken.set(context, grant)
      return { data: { ...account, ...withoutTokens } }
    },
    after: async (account: Login, context: object | null) => {
      const grant = context && taken.get(context)
      if (!grant) return
      taken.delete(context)
      await keep(account, grant)
    },
  }
}

type Parts = { db: Db; sealer: Sealer }

const gitProviders: readonly string[] = ['github', 'gitlab'] satisfies GitProvider[]

/** Stores a grant and replaces the previous grant of the login. Ignores providers that do not host repositories. */
export async function storeGrant({ db, sealer }: Parts, login: Login, grant: ProviderGrant): Promise<void> {
  if (!gitProviders.includes(login.providerId)) return
  const sealed = await sealer.seal(ownerOf(login.userId), placeOf(login.id), JSON.stringify(grant))
  await sql`update login_accounts set grant_sealed = ${sealed}
    where id = ${login.id} and user_id = ${login.userId}`.execute(db)
}

/** A grant with its sealed form, which {@link replaceGrant} compares to detect a concurrent change. */
export type StoredGrant = { loginId: string; userId: string; grant: ProviderGrant; sealed: string }

/** Returns a user's grants of a provider, the most recently updated first. Returns none if the account is closed. */
export async function findGrants(
  { db, sealer }: Parts,
  { userId, provider }: { userId: string; provider: GitProvider },
): Promise<StoredGrant[]> {
  const { rows } = await sql<{ loginId: string; sealed: string }>`
    select l.id as "loginId", l.grant_sealed as sealed from login_accounts l join users u on u.id = l.user_id
    where l.user_id = ${userId} and l.provider_id = ${provider} and l.grant_sealed is not null and u.closed_at is null
    order by l.updated_at desc`.execute(db)
  return Promise.all(
    rows.map(async ({ loginId, sealed }) => {
      const text = await sealer.open(ownerOf(userId), placeOf(loginId), sealed)
      return { loginId, userId, sealed, grant: providerGrant.parse(JSON.parse(text)) }
    }),
  )
}

/**
 * SQL predicate: true if the user is an admin of the organization, has an open account and a stored grant of the
 * provider. Docks may access repositories through such a user. The parameters are columns of the enclosing query.
 */
export function isLinkedAdmin(of: Record<'organizationId' | 'userId' | 'provider', RawBuilder<unknown>>) {
  return sql<boolean>`exists (select 1 from login_accounts l join users lu on lu.id = l.user_id and lu.closed_at is null
    join memberships lm on lm.user_id = l.user_id and lm.role in ('admin', 'owner')
    where lm.organization_id = ${of.organizationId} and l.user_id = ${of.userId} and l.provider_id = ${of.provider}
      and l.grant_sealed is not null)`
}

/**
 * Replaces a stored grant, or deletes it if `grant` is null. Returns false and changes nothing if the stored grant has
 * changed since it was read.
 */
export async function replaceGrant(
  { db, sealer }: Parts,
  { loginId, userId, sealed: before }: StoredGrant,
  grant: ProviderGrant | null,
): Promise<boolean> {
  const sealed = grant && (await sealer.seal(ownerOf(userId), placeOf(loginId), JSON.stringify(grant)))
  const changed = await sql`update login_accounts set grant_sealed = ${sealed}
    where id = ${loginId} and user_id = ${userId} and grant_sealed = ${before}`.execute(db)
  return changed.numAffectedRows === 1n
}

/**
 * What a provider grants with a sign-in or a link: tokens that expire, sealed under the key of the person they stand for.
 * The sign-in library never stores one. A token that does not expire is not kept: it could not be taken back.
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

/** The library's hooks of creating and of renewing a login: its tokens go past its tables. */
export function grantHooks(keep: KeepGrant) {
  // What the first hook takes away is for the second, which knows whose it is: both get the one request's context.
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

/** Keeps what a provider of repositories granted, in place of what it did before. */
export async function storeGrant({ db, sealer }: Parts, login: Login, grant: ProviderGrant): Promise<void> {
  if (!gitProviders.includes(login.providerId)) return
  const sealed = await sealer.seal(ownerOf(login.userId), placeOf(login.id), JSON.stringify(grant))
  await sql`update login_accounts set grant_sealed = ${sealed}
    where id = ${login.id} and user_id = ${login.userId}`.execute(db)
}

/** A grant as it lies in the database. */
export type StoredGrant = { loginId: string; userId: string; grant: ProviderGrant; sealed: string }

/** What a provider granted to a person, the latest link first; nothing while their account is closed. */
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
 * SQL predicate: true if the person is an admin of the organization with an open account and a kept grant of the
 * provider, so that a Dock may reach repositories through them. The parts are columns of the query around it.
 */
export function isLinkedAdmin(of: Record<'organizationId' | 'userId' | 'provider', RawBuilder<unknown>>) {
  return sql<boolean>`exists (select 1 from login_accounts l join users lu on lu.id = l.user_id and lu.closed_at is null
    join memberships lm on lm.user_id = l.user_id and lm.role in ('admin', 'owner')
    where lm.organization_id = ${of.organizationId} and l.user_id = ${of.userId} and l.provider_id = ${of.provider}
      and l.grant_sealed is not null)`
}

/** Keeps the renewed grant, or none where null; false when another one is there by now. */
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

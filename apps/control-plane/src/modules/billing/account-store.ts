/** All SQL of organizations' accounts with the payment company. */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type Account = {
  organizationId: string
  name: string
  /** Address of an owner, for invoices. Null if the organization was deleted. */
  email: string | null
  hasPlan: boolean
  customerId: string | null
  subscriptionId: string | null
  attempt: number
  version: number
  /** True if an operator set the plan again: a subscription that has ended is replaced. */
  renew: boolean
}

/** Returns the organization's account, which is created if the organization has a plan. Null: there is nothing to pay. */
export async function openAccount(db: Db, organizationId: string): Promise<Account | null> {
  await sql`insert into billing_accounts (organization_id, created_at)
    select organization_id, metering_now() from organization_plans where organization_id = ${organizationId}
    on conflict do nothing`.execute(db)
  const found = await sql<Account>`
    select a.organization_id as "organizationId", o.name, a.customer_id as "customerId",
      a.subscription_id as "subscriptionId", a.attempt, a.version, a.renew,
      (select u.email from memberships m join users u on u.id = m.user_id
        where m.organization_id = o.id and m.role = 'owner'
        order by u.closed_at is not null, not u.email_verified, m.created_at, m.user_id limit 1) as email,
      (p.plan is not null and o.deleted_at is null) as "hasPlan"
    from billing_accounts a join organizations o on o.id = a.organization_id
    left join organization_plans p on p.organization_id = a.organization_id
    where a.organization_id = ${organizationId}`.execute(db)
  return found.rows[0] ?? null
}

/** Returns organizations that must get a subscription, may need another one, or must lose theirs. */
export async function listAccountsToSync(db: Db): Promise<string[]> {
  const found = await sql<{ id: string }>`
    select o.id from organizations o
    left join organization_plans p on p.organization_id = o.id
    left join billing_accounts a on a.organization_id = o.id
    where case when p.plan is not null and o.deleted_at is null then a.subscription_id is null or a.renew
      else a.subscription_id is not null end`.execute(db)
  return found.rows.map(({ id }) => id)
}

/** Returns organizations that have a subscription. */
export async function listSubscribers(db: Db): Promise<string[]> {
  const found = await sql<{ id: string }>`select organization_id as id from billing_accounts
    where subscription_id is not null`.execute(db)
  return found.rows.map(({ id }) => id)
}

export async function findAccountOfCustomer(db: Db, customerId: string): Promise<string | null> {
  const found = await sql<{ id: string }>`select organization_id as id from billing_accounts
    where customer_id = ${customerId}`.execute(db)
  return found.rows[0]?.id ?? null
}

/** Saves what the company created. */
export async function saveAccount(
  db: Db,
  organizationId: string,
  { customerId, subscriptionId }: { customerId?: string; subscriptionId?: string },
): Promise<void> {
  await sql`update billing_accounts set customer_id = coalesce(${customerId ?? null}, customer_id),
      subscription_id = coalesce(${subscriptionId ?? null}, subscription_id)
    where organization_id = ${organizationId}`.execute(db)
}

/** Forgets the subscription, and the idempotency key with which it was created. */
export async function forgetSubscription(db: Db, organizationId: string): Promise<void> {
  await sql`update billing_accounts set subscription_id = null, renew = false, attempt = attempt + 1,
      version = version + 1
    where organization_id = ${organizationId}`.execute(db)
}

/** The next request gets another idempotency key. */
export async function countAttempt(db: Db, organizationId: string): Promise<void> {
  await sql`update billing_accounts set attempt = attempt + 1
    where organization_id = ${organizationId}`.execute(db)
}

/** Saves whether the subscription is paid, if nothing was saved since `version` was read. Returns false otherwise. */
export async function saveSubscribed(
  db: Db,
  { organizationId, version }: Account,
  subscribed: boolean,
): Promise<boolean> {
  const saved = await sql`
    with saved as (update billing_accounts set version = version + 1, renew = false
      where organization_id = ${organizationId} and version = ${version} returning organization_id),
    told as (update organization_plans p set subscribed = ${subscribed}::boolean from saved
      where p.organization_id = saved.organization_id)
    select 1 from saved`.execute(db)
  return saved.rows.length > 0
}

/** Without a payment company, every plan counts as paid. */
export async function ignoreSubscriptions(db: Db): Promise<void> {
  await sql`update organization_plans set subscribed = true where not subscribed`.execute(db)
}

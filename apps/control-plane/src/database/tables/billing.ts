/** Tables of plans, metering and the ledger (migrations 055 to 057). */
import type { ColumnType } from 'kysely'

/** Microseconds times an amount, as a whole number in decimal digits. */
type Amount = ColumnType<string, string, never>

type Amounts = {
  vcpu_us: Amount
  memory_mib_us: Amount
  disk_gib_us: Amount
  snapshot_byte_us: Amount
}

export type BillingTables = {
  plans: {
    name: string
    currency: string
    docks_max: number | null
    fast_runs_max: number | null
    budget_micros: number | null
    vcpu_second: string
    memory_gib_second: string
    disk_gib_month: string
    snapshot_gib_month: string
    retired: boolean
  }
  organization_plans: {
    organization_id: string
    plan: string
    active: boolean
    subscribed: boolean
    spent_month: Date | null
    spent_micros: number
  }
  usage_spans: {
    id: ColumnType<number, never, never>
    organization_id: string
    dock_id: string
    thing_id: string
    cpus: number
    memory_mib: number
    disk_gib: number
    snapshot_bytes: number
    from_at: Date
    until_at: Date
  }
  ledger_calendar: { one: boolean; closed_until: Date }
  ledger_days: Amounts & {
    organization_id: string
    day: Date
    plan: string | null
    currency: string | null
    prices: unknown
    cost_micros: number
    closed_at: Date
  }
  billing_accounts: {
    organization_id: string
    customer_id: string | null
    subscription_id: string | null
    attempt: number
    version: number
    renew: boolean
    created_at: Date
  }
  ledger_reports: {
    organization_id: string
    day: Date
    state: 'sending' | 'sent' | 'unclear'
    first_tried_at: Date
  }
  ledger_docks: Amounts & { organization_id: string; day: Date; dock_id: string }
}

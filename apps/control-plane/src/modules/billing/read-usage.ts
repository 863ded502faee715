/** GET /v1/organizations/:id/usage */
import type { OrganizationUsage } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { type Amounts, readCurrentMonth, readUsageDays, type UsageDay } from './usage-store.ts'

const second = 1_000_000n
const mib = 1_048_576n

/** Converts to seconds, rounded down. */
const inSeconds = (amounts: Record<keyof Amounts, bigint>) => ({
  vcpuSeconds: Number(amounts.vcpuUs / second),
  memoryMiBSeconds: Number(amounts.memoryMiBUs / second),
  diskGiBSeconds: Number(amounts.diskGiBUs / second),
  snapshotMiBSeconds: Number(amounts.snapshotByteUs / (second * mib)),
})

const sumOf = (days: readonly UsageDay[], name: keyof Amounts): bigint =>
  days.reduce((sum, day) => sum + BigInt(day[name]), 0n)

const totalOf = (days: readonly UsageDay[]) => ({
  ...inSeconds({
    vcpuUs: sumOf(days, 'vcpuUs'),
    memoryMiBUs: sumOf(days, 'memoryMiBUs'),
    diskGiBUs: sumOf(days, 'diskGiBUs'),
    snapshotByteUs: sumOf(days, 'snapshotByteUs'),
  }),
  costMicros: days.reduce((sum, day) => sum + day.costMicros, 0),
})

/** Returns what the organization, or one of its Docks, used in a month in UTC; the current month by default. */
export async function readOrganizationUsage(
  { db }: { db: Db },
  organizationId: string,
  query: { month?: string | undefined; dockId?: string | undefined },
): Promise<OrganizationUsage> {
  const month = query.month ?? (await readCurrentMonth(db))
  const { closedUntil, days } = await readUsageDays(db, organizationId, `${month}-01`, query.dockId ?? null)
  return {
    month,
    closedUntil,
    currency: days.findLast(({ currency }) => currency !== null)?.currency ?? null,
    total: totalOf(days),
    days: days.map((day) => ({ day: day.day, closed: day.closed, ...totalOf([day]) })),
  }
}

/**
 * Reports closed days to the payment company. A report is saved before it is sent, and a lost answer is asked for again
 * under the same identifier, so that the company counts each day of the ledger once.
 */
import type { Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { type BillingProvider, ProviderRefused } from './provider.ts'
import { beginReport, dropReport, endReport, listPendingReports, type PendingReport } from './report-store.ts'

type Parts = { db: Db; logger: Logger; provider: BillingProvider }

const batch = 100
/** After so many lost answers in a row the company is probably down. Fewer may concern single organizations. */
const lostMax = 5
const dayMs = 86_400_000

/** Reports the days that are due. A report whose answer is lost holds up no other, and the next call repeats it. */
export async function reportUsage(parts: Parts): Promise<void> {
  let after: PendingReport | undefined
  let lost = 0
  for (;;) {
    const reports = await listPendingReports(parts.db, batch, after)
    for (const report of reports) {
      lost = (await sendReport(parts, report)) ? 0 : lost + 1
      if (lost === lostMax) return
    }
    after = reports.at(-1)
    if (reports.length < batch) return
  }
}

/** Returns false if the answer was lost. */
const sendReport = async (parts: Parts, report: PendingReport): Promise<boolean> => {
  const { db, logger, provider } = parts
  const { organizationId, customerId, day, at, costMicros } = report
  try {
    if (report.isForgotten && (await settleForgotten(parts, report))) return true
    await beginReport(db, report)
    const identifier = `dock-${organizationId}-${day}`
    await provider.reportUsage({ identifier, customerId, at, micros: costMicros })
    await endReport(db, report, 'sent')
    return true
  } catch (error) {
    logger.warn(
      { err: error, organizationId, day, provider: provider.name },
      'could not report usage; retried',
    )
    if (!(error instanceof ProviderRefused)) return false
    if (!report.isRepeated) await dropReport(db, report)
    return true
  }
}

/**
 * Asks the company what it counted, since it may count a repeated identifier again. Returns false if it counted nothing,
 * so that the day can be sent as if for the first time.
 */
const settleForgotten = async ({ db, logger, provider }: Parts, report: PendingReport): Promise<boolean> => {
  const { organizationId, customerId, day, costMicros } = report
  const from = new Date(`${day}T00:00:00Z`)
  const until = new Date(from.getTime() + dayMs)
  const counted = await provider.readReported({ customerId, from, until })
  if (counted === 0) {
    await dropReport(db, report)
    return false
  }
  if (counted !== costMicros)
    logger.error(
      { organizationId, day, counted, costMicros, provider: provider.name },
      'the payment company counted another cost than the ledger',
    )
  await endReport(db, report, counted === costMicros ? 'sent' : 'unclear')
  return true
}

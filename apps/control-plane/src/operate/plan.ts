import { createLogger, systemClock } from '@dock/foundation'
import type { Verb } from './verb.ts'

/**
 * Shows or sets the plan of an organization, which is named by its slug or id. A running server subscribes the organization
 * within a minute if a payment company is configured.
 */
export const plan: Verb = {
  usage: 'ORGANIZATION [PLAN|none]',
  summary: 'shows or sets the plan of one organization',
  read: ([organization, name, ...rest]) => {
    if (organization === undefined || rest.length > 0) return undefined
    return async (db) => {
      const { setPlan } = await import('../modules/billing/index.ts')
      return setPlan(
        { db, clock: systemClock, logger: createLogger('plan'), accounts: null },
        organization,
        name,
      )
    }
  },
}

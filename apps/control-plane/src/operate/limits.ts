import { systemClock } from '@dock/foundation'
import type { Verb } from './verb.ts'

/** Shows or sets the limits of an organization, which is named by its slug or id. docs/operate/limits.md has the names. */
export const limits: Verb = {
  usage: 'ORGANIZATION [NAME=NUMBER|NAME=default ...]',
  summary: 'shows or sets what one organization may use',
  read: ([organization, ...changes]) => {
    if (organization === undefined) return undefined
    return async (db) => {
      const { setLimits } = await import('../modules/limits/index.ts')
      return setLimits({ db, clock: systemClock }, organization, changes)
    }
  },
}

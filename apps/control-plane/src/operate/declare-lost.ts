import { systemClock } from '@dock/foundation'
import type { Verb } from './verb.ts'

/** Declares a silent host lost. No operation waits for it any more. A running server picks the change up. */
export const declareLost: Verb = {
  usage: 'HOST',
  summary: 'gives up a host that will not come back',
  read: ([host = '', ...rest]) => {
    if (!/^[0-9a-f-]{36}$/.test(host) || rest.length > 0) return undefined
    return async (db) => {
      const { declareLost: declare } = await import('../modules/docks/index.ts')
      const lost = await declare({ db, clock: systemClock }, host, { kind: 'operator' })
      return `Host ${lost.hostId} is declared lost. ${lost.docks} Docks were on it; ${lost.failedSnapshots} Snapshots had no copy and are now failed.`
    }
  },
}

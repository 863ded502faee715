/** Routes of hosts. The HTTP layer admits only instance admins. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { declareLost } from '../../modules/docks/index.ts'
import { type Enrolment, listHosts, readHost } from '../../modules/hosts/index.ts'
import type { Handlers } from '../handler.ts'

export function hostHandlers(options: {
  db: Db
  clock: Clock
  enrolment: Enrolment
  /** Closes the session of a host after its credential was replaced. */
  disconnect(hostId: string, reason: string): void
}): Handlers {
  return {
    listHosts: () => listHosts(options.db),
    readHost: ({ params }) => readHost(options.db, params.id),
    resetHostCredential: async ({ params }) => {
      const fresh = await options.enrolment.resetCredential(params.id)
      options.disconnect(params.id, 'credential replaced')
      return fresh
    },
    declareHostLost: ({ params }) => declareLost(options, params.id),
  }
}

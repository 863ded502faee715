/** Routes of hosts. The HTTP layer admits only instance admins. */
import { declareLost } from '../../modules/docks/index.ts'
import { type HostsContext, listHosts, readHost } from '../../modules/hosts/index.ts'
import type { Handlers } from '../handler.ts'

export function hostHandlers(context: HostsContext): Handlers {
  return {
    listHosts: () => listHosts(context.db),
    readHost: ({ params }) => readHost(context.db, params.id),
    resetHostCredential: async ({ params }) => {
      const fresh = await context.enrolment.resetCredential(params.id)
      context.disconnect(params.id, 'credential replaced')
      return fresh
    },
    declareHostLost: ({ params }) => declareLost(context, params.id),
  }
}

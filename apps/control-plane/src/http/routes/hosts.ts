/** Routes of hosts and of the quarantine. The HTTP layer admits only instance admins, but to the size of the largest Dock. */
import { ServiceError } from '@dock/contract'
import { adoptQuarantined, declareLost } from '../../modules/docks/index.ts'
import {
  deleteQuarantined,
  type HostsContext,
  listHosts,
  listQuarantine,
  QuarantineRefused,
  readHost,
  readHostVersions,
  readLargestDock,
} from '../../modules/hosts/index.ts'
import type { Handlers } from '../../routing/handler.ts'

/** Does what an operator decided. A refusal keeps its sentence. */
const decide = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof QuarantineRefused)) throw error
    throw new ServiceError(error.reason, error.reason === 'conflict' ? { message: error.message } : undefined)
  }
}

export function hostHandlers(context: HostsContext): Handlers {
  return {
    listHosts: () => listHosts(context.db),
    readLargestDock: () => readLargestDock(context.db),
    readHost: ({ params }) => readHost(context.db, params.id),
    readHostVersions: ({ params }) => readHostVersions(context, params.id),
    resetHostCredential: async ({ params }) => {
      const fresh = await context.enrolment.resetCredential(params.id)
      context.disconnect(params.id, 'credential replaced')
      return fresh
    },
    declareHostLost: ({ params }) => declareLost(context, params.id),
    listQuarantine: () => listQuarantine(context.db),
    adoptQuarantined: ({ caller, params, body: { organizationId } }) =>
      decide(adoptQuarantined(context, params.id, { organizationId, adminId: caller.userId })),
    deleteQuarantined: async ({ caller, params }) => {
      await decide(deleteQuarantined(context, params.id, caller.userId))
      return { removed: true }
    },
  }
}

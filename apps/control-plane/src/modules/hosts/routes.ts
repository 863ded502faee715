/** Routes of hosts and of the quarantine. The server admits only instance admins, except to the size of the largest Dock. */
import type { Clock } from '@dock/foundation'
import type { Handlers } from '../../routing/handler.ts'
import { deleteQuarantined } from './delete-quarantined.ts'
import type { Enrolment } from './enrolment.ts'
import { readHostVersions } from './host-versions.ts'
import { listHosts, readHost } from './host-view.ts'
import { readLargestDock } from './largest-dock.ts'
import { listQuarantine } from './quarantine-view.ts'
import { takeDecision } from './take-decision.ts'
import { type TestHostNeeds, testHost } from './test-host.ts'

export type HostsContext = TestHostNeeds & {
  clock: Clock
  enrolment: Enrolment
  /** Closes the session of a host after its credential was replaced. */
  disconnect(hostId: string, reason: string): void
}

export function hostRoutes(context: HostsContext): Handlers {
  return {
    listHosts: () => listHosts(context.db),
    readLargestDock: () => readLargestDock(context.db),
    readHost: ({ params }) => readHost(context.db, params.id),
    testHost: ({ caller, params }) => testHost(context, params.id, caller),
    readHostVersions: ({ params }) => readHostVersions(context, params.id),
    resetHostCredential: async ({ caller, params }) => {
      const fresh = await context.enrolment.resetCredential(params.id, caller)
      context.disconnect(params.id, 'credential replaced')
      return fresh
    },
    listQuarantine: () => listQuarantine(context.db),
    deleteQuarantined: async ({ caller, params }) => {
      await takeDecision(deleteQuarantined(context, params.id, caller))
      return { removed: true }
    },
  }
}

import type { Handlers } from '../../routing/handler.ts'
import { deleteStorageCounters } from './limit-store.ts'
import type { LimitsContext } from './limits-context.ts'
import { limitRoutes } from './routes.ts'

export type LimitsModule = {
  routes: Handlers
  /** Deletes the counters of a deleted organization. Returns how many are left. */
  removeCounters(organizationId: string): Promise<number>
}

export function createLimitsModule({ db, clock, defaults }: LimitsContext): LimitsModule {
  return {
    routes: limitRoutes({ db, clock, defaults }),
    removeCounters: (organizationId) => deleteStorageCounters(db, organizationId),
  }
}

import type { Db } from '../../database/database.ts'
import { deleteStorageCounters } from './limit-store.ts'
import type { Limits } from './organization-limits.ts'

/** `defaults`: limits of organizations that have none of their own. */
export type LimitsContext = { db: Db; defaults: Limits }

export type LimitsModule = {
  context: LimitsContext
  /** Deletes the counters of a deleted organization. Returns how many are left. */
  removeCounters(organizationId: string): Promise<number>
}

export function createLimitsModule({ db, defaults }: LimitsContext): LimitsModule {
  return {
    context: { db, defaults },
    removeCounters: (organizationId) => deleteStorageCounters(db, organizationId),
  }
}

import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Limits } from './organization-limits.ts'

/** `defaults`: limits of organizations that have none of their own. */
export type LimitsContext = { db: Db; clock: Clock; defaults: Limits }

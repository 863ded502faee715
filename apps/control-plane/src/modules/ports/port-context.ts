import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { PortsDomain } from './port-domain.ts'

/** The dependencies of this module's route handlers. `domain` is null if hosted ports are off. */
export type PortContext = { db: Db; clock: Clock; domain: PortsDomain | null }

import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { PortsDomain } from './port-domain.ts'

/** What the operations on ports work with. `domain` null: hosted ports are off. */
export type PortContext = { db: Db; clock: Clock; domain: PortsDomain | null }

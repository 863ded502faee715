import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { PortsDomain } from './port-domain.ts'

/** Returns how an entry of the audit log names the port's Dock. */
export function targetOf({ id, name, organizationId }: { id: string; name: string; organizationId: string }) {
  return { organizationId, target: { type: 'dock', id, name } }
}

/** The dependencies of this module's route handlers. `domain` is null if hosted ports are off. */
export type PortContext = { db: Db; clock: Clock; domain: PortsDomain | null }

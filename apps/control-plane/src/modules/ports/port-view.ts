import type { PortEntry } from '@dock/contract'
import { type PortsDomain, portUrl } from './port-domain.ts'
import type { PortRow } from './port-store.ts'

/** Returns the API view of an exposed port. `url` is null if hosted ports are off. */
export function viewPort(domain: PortsDomain | null, { port, label, createdAt }: PortRow): PortEntry {
  return {
    port,
    url: domain && portUrl(domain, port, label),
    createdAt: createdAt.toISOString(),
  }
}

import type { PortEntry } from '@dock/contract'
import { type PortsDomain, portUrl } from './port-domain.ts'
import type { PortRow } from './port-store.ts'

/** An exposed port as callers see it; without a domain it has no address. */
export function viewPort(domain: PortsDomain | null, { port, label, createdAt }: PortRow): PortEntry {
  return {
    port,
    url: domain && portUrl(domain, port, label),
    createdAt: createdAt.toISOString(),
  }
}

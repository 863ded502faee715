/** Public interface of the ports module: exposing ports of Docks, and routing requests to them. */

export { createPortsModule } from './module.ts'
export { type PortsDomain, readHost } from './port-domain.ts'
export type { PortRoutes } from './port-routes.ts'
export type { PortRoute } from './port-store.ts'
export { readPortsDomain } from './read-ports-domain.ts'

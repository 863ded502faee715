/** Public interface of the ports module: exposing ports of Docks, and routing requests to them. */

export { changePort } from './change-port.ts'
export { exposePort } from './expose-port.ts'
export { listPorts } from './list-ports.ts'
export { createPortsModule, type PortsModule } from './module.ts'
export type { PortContext } from './port-context.ts'
export { type HostedName, type PortsDomain, readHost } from './port-domain.ts'
export type { PortRoutes } from './port-routes.ts'
export type { PortRoute } from './port-store.ts'
export { readPortsDomain } from './read-ports-domain.ts'
export { unexposePort } from './unexpose-port.ts'

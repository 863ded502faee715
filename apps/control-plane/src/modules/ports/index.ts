/** Public interface of the ports module: exposing ports of Docks, and routing requests to them. */

export { createPortsModule, type PortsModule } from './create-ports-module.ts'
export type { PortContext } from './port-context.ts'
export { type HostedName, type PortsDomain, readHost } from './port-domain.ts'
export type { PortRoutes } from './port-routes.ts'
export type { PortRoute } from './port-store.ts'
export { readPortsDomain } from './read-ports-domain.ts'
export { changePort } from './routes/change-port.ts'
export { exposePort } from './routes/expose-port.ts'
export { listPorts } from './routes/list-ports.ts'
export { unexposePort } from './routes/unexpose-port.ts'

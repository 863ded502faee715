/** Public face of the fleet gateway. */
export { createFleetGateway, type FleetGateway } from './fleet-gateway.ts'
export { createFleetServer, type FleetServer } from './fleet-server.ts'

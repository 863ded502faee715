/** Public face of the port gateway. */
export { createPortGateway, type PortGateway } from './port-gateway.ts'

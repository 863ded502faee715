/** The SSH gateway: ends SSH in the control plane and runs programs in Docks for its clients. */

export type { SshMetrics } from './ssh-context.ts'
export { createSshGateway, type SshGateway } from './ssh-gateway.ts'

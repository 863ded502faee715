export { createGvisorDriver, type GvisorDriver, type GvisorOptions } from './create-gvisor-driver.ts'
export type { ExecTransport } from './exec/exec-transport.ts'
export { type GvisorSettings, readGvisorSettings } from './gvisor-settings.ts'

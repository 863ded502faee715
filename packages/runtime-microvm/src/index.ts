export { awaitAgent } from './driver/await-agent.ts'
export { createMicrovmDriver, type MicrovmOptions, type Sessions } from './driver/create-microvm-driver.ts'
export { type Machines, type MachinesOptions, openMachines } from './machine/open-machines.ts'
export { type MicrovmSettings, readMicrovmSettings } from './microvm-settings.ts'

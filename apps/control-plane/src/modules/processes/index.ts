/** Public interface of the processes module: processes of Docks that outlive the request that started them. */

export { closeInput, resizeProcess, signalProcess, writeInput } from './control-process.ts'
export { createProcessesModule } from './module.ts'
export type { ProcessContext } from './process-context.ts'
export { readProcessOutput } from './read-output.ts'
export { listProcesses, readProcess, waitForProcess } from './read-processes.ts'
export { startProcess } from './start-process.ts'

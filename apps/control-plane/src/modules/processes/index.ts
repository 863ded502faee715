/** Public interface of the processes module: processes of Docks that outlive the request that started them. */

export { createProcessesModule, type ProcessesModule } from './create-processes-module.ts'
export type { ProcessContext } from './process-context.ts'
export { closeInput, resizeProcess, signalProcess, writeInput } from './routes/control-process.ts'
export { readProcessOutput } from './routes/read-output.ts'
export { listProcesses, readProcess, waitForProcess } from './routes/read-processes.ts'
export { startProcess } from './routes/start-process.ts'

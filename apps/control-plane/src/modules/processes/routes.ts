/** Routes of processes that outlive their request. */
import type { Handlers } from '../../routing/handler.ts'
import { closeInput, resizeProcess, signalProcess, writeInput } from './control-process.ts'
import type { ProcessContext } from './process-context.ts'
import { readProcessOutput } from './read-output.ts'
import { listProcesses, readProcess, waitForProcess } from './read-processes.ts'
import { startProcess } from './start-process.ts'

export function processRoutes(context: ProcessContext): Handlers {
  return {
    startDockProcess: ({ caller, params, body, idempotencyKey }) =>
      startProcess(context, caller, params.id, body, idempotencyKey),
    listDockProcesses: ({ caller, params }) => listProcesses(context, caller, params.id),
    readDockProcess: ({ caller, params }) => readProcess(context, caller, params),
    readDockProcessOutput: ({ caller, params, query }) => readProcessOutput(context, caller, params, query),
    writeDockProcessInput: ({ caller, params, query, body }) =>
      writeInput(context, caller, params, query, body),
    closeDockProcessInput: ({ caller, params }) => closeInput(context, caller, params),
    resizeDockProcess: ({ caller, params, body }) => resizeProcess(context, caller, params, body),
    signalDockProcess: ({ caller, params, body }) => signalProcess(context, caller, params, body),
    waitForDockProcess: ({ caller, params, query }) => waitForProcess(context, caller, params, query),
  }
}

/** Routes of processes that outlive their request. */
import {
  closeInput,
  listProcesses,
  type ProcessContext,
  readProcess,
  readProcessOutput,
  resizeProcess,
  signalProcess,
  startProcess,
  waitForProcess,
  writeInput,
} from '../../modules/processes/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function processHandlers(context: ProcessContext): Handlers {
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

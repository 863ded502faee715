/** GET /v1/docks/:id/processes, …/:pid and …/:pid/wait */
import type { DockProcess } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { explainHostFailure } from '../hosts/index.ts'
import type { ProcessContext } from './process-context.ts'
import { viewProcess } from './process-view.ts'
import { startWords } from './process-words.ts'
import { callHost, requireProcessAccess, requireReady } from './require-process.ts'

type ProcessParams = { id: string; pid: string }

export async function listProcesses(
  context: ProcessContext,
  caller: Visitor,
  id: string,
): Promise<DockProcess[]> {
  const hostId = requireReady(await requireProcessAccess(context, caller, id))
  try {
    return (await context.hosts.listKept({ hostId, dockId: id })).processes.map(viewProcess)
  } catch (error) {
    throw explainHostFailure(error, startWords)
  }
}

export async function readProcess(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
): Promise<DockProcess> {
  return viewProcess(await callHost(context, caller, params, context.hosts.readKept))
}

/** Returns the process once it has ended, or as it is after `timeoutSeconds`. */
export async function waitForProcess(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
  { timeoutSeconds }: { timeoutSeconds: number },
): Promise<DockProcess> {
  const wait = callHost(context, caller, params, (place) =>
    context.hosts.waitForKept(place, { ms: timeoutSeconds * 1000 }),
  )
  return viewProcess(await wait)
}

/** POST /v1/docks/:id/processes/:pid/stdin, …/stdin/close, …/resize and …/signal */
import { type ProcessInput, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { readableOf } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { createUploadBudget, type UploadPace, usualUploadPace } from '../files/index.ts'
import { endWithAccess } from './end-with-access.ts'
import type { ProcessContext } from './process-context.ts'
import { callHost } from './require-process.ts'

type ProcessParams = { id: string; pid: string }
type Done = { done: true }

/**
 * Passes the body on as the process reads it. Returns the offset of the next byte. Throws `dock_not_found` if the caller
 * loses access to the Dock meanwhile, and `validation_error` if the caller sends too slowly. A process may read as slowly as
 * it likes.
 */
export async function writeInput(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
  { offset }: { offset: number },
  body: ReadableStream<Uint8Array>,
  pace: UploadPace = usualUploadPace,
): Promise<ProcessInput> {
  const close = context.streams.add(caller.userId)
  const budget = createUploadBudget(pace)
  const bytes = readableOf(body, budget.wait, budget.credit)
  try {
    return await callHost(context, caller, params, async (place) => {
      await endWithAccess(context, caller, params.id, [bytes])
      return context.hosts.writeKeptInput(place, { offset }, bytes)
    })
  } catch (error) {
    throw bytes.errored instanceof ServiceError ? bytes.errored : error
  } finally {
    bytes.destroy()
    close()
  }
}

export async function closeInput(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
): Promise<Done> {
  await callHost(context, caller, params, context.hosts.closeKeptInput)
  return { done: true }
}

export async function resizeProcess(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
  size: RouteBody<(typeof routes)['resizeDockProcess']>,
): Promise<Done> {
  await callHost(context, caller, params, (place) => context.hosts.resizeKept(place, size))
  return { done: true }
}

export async function signalProcess(
  context: ProcessContext,
  caller: Visitor,
  params: ProcessParams,
  body: RouteBody<(typeof routes)['signalDockProcess']>,
): Promise<Done> {
  await callHost(context, caller, params, (place) => context.hosts.signalKept(place, body))
  return { done: true }
}

/** POST /v1/docks/:id/processes */
import { type DockProcess, isReadyDockState, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { claimExecKey, type DockRow, type ExecKey, findExecKey, freeExecKey } from '../docks/index.ts'
import { explainHostFailure, NotBegun } from '../hosts/index.ts'
import type { ProcessContext } from './process-context.ts'
import { viewProcess } from './process-view.ts'
import { startWords } from './process-words.ts'
import { requireProcessAccess, requireReady } from './require-process.ts'

type StartBody = RouteBody<(typeof routes)['startDockProcess']>

/** Starts a process in a ready Dock. With an idempotency key, it starts at most once, even if this process crashes. */
export async function startProcess(
  context: ProcessContext,
  caller: Visitor,
  id: string,
  body: StartBody,
  key: string | undefined,
): Promise<DockProcess> {
  const dock = await requireProcessAccess(context, caller, id, 'processStarts')
  if (key === undefined) return start(context, dock, body, newUuid())
  const name = `${id} ${key}`
  const underWay = context.keyed.get(name)
  if (underWay) return underWay
  const starting = startOnce(context, dock, body, key).finally(() => context.keyed.delete(name))
  context.keyed.set(name, starting)
  return starting
}

const start = async (
  { hosts, activity }: ProcessContext,
  dock: DockRow,
  body: StartBody,
  processId: string,
): Promise<DockProcess> => {
  const hostId = requireReady(dock)
  const { timeoutSeconds, holdOutput, ...wanted } = body
  const ended = activity.begin(dock)
  try {
    const process = await hosts.startKept(
      { hostId, dockId: dock.id },
      {
        ...wanted,
        processId,
        generation: dock.generation,
        ...(holdOutput ? { holdOutput } : {}),
        ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
      },
    )
    return viewProcess(process)
  } catch (error) {
    throw explainHostFailure(error, startWords)
  } finally {
    ended()
  }
}

/** The row of the key also is the process's id, so a repeated request finds the process on the host. */
const startOnce = async (
  context: ProcessContext,
  dock: DockRow,
  body: StartBody,
  given: string,
): Promise<DockProcess> => {
  const { db, clock, hosts } = context
  // A header has no line break, so no command has this key.
  const key: ExecKey = {
    dockId: dock.id,
    organizationId: dock.organizationId,
    key: `process\n${given}`,
  }
  const claimed = isReadyDockState(dock.state) ? await claimExecKey(db, key, clock.now()) : null
  if (claimed !== null) {
    return start(context, dock, body, claimed).catch(async (error: unknown) => {
      if (error instanceof NotBegun) await freeExecKey(db, key, claimed)
      throw error
    })
  }
  const earlier = await findExecKey(db, key)
  const hostId = requireReady(dock)
  // A start that was refused has released the key in the meantime.
  if (!earlier) return startOnce(context, dock, body, given)
  try {
    return viewProcess(await hosts.readKept({ hostId, dockId: dock.id, processId: earlier.id }))
  } catch (error) {
    const failure = explainHostFailure(error, startWords)
    throw failure instanceof ServiceError && failure.code === 'not_found'
      ? new ServiceError('exec_result_expired')
      : failure
  }
}

/** Calls for kept processes. */
import { bodyOf } from '@dock/foundation'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { Handlers } from './bind-calls.ts'
import { type HostView, knownDock } from './host-view.ts'

export function keptProcessHandlers({ docks, keeper, precedence }: HostView) {
  const keptOf = (dockId: string) => knownDock(docks, dockId).kept
  return {
    startKept: ({ dockId }, request) => {
      precedence.take()
      return keptOf(dockId).start(request)
    },
    listKept: async ({ dockId }) => ({ processes: await keptOf(dockId).list() }),
    readKept: ({ dockId, processId }) => keptOf(dockId).read(processId),
    waitForKept: ({ dockId, processId }, { ms }) => keptOf(dockId).wait(processId, ms),
    signalKept: ({ dockId, processId }, signal) => keptOf(dockId).signal(processId, signal),
    resizeKept: ({ dockId, processId }, size) => keptOf(dockId).resize(processId, size),
    openKeptOutput: async ({ dockId, processId, stream }, query) => {
      keptOf(dockId).require(processId)
      const { first, start, body } = await keeper.openOutput(dockId, processId, stream, query)
      return { first, start, body: bodyOf(body) }
    },
    writeKeptInput: ({ dockId, processId }, { offset }, bytes) => {
      keptOf(dockId).require(processId)
      return keeper.writeInput(dockId, processId, offset, bytes).catch((error: unknown) => {
        // A caller who leaves in the middle is usual, and no failure of this host.
        throw bytes.errored ? new AgentRefusal('conflict', 'the input broke off') : error
      })
    },
    closeKeptInput: ({ dockId, processId }) => {
      keptOf(dockId).require(processId)
      return keeper.closeInput(dockId, processId)
    },
  } satisfies Partial<Handlers>
}

/** Commands to Docks. */
import type { Handlers } from './bind-calls.ts'
import { type HostView, knownDock } from './host-view.ts'

export function dockHandlers({ docks, instance, precedence }: HostView) {
  return {
    start: ({ dockId }, command) => precedence.during(() => docks.getForCommand(dockId).start(command)),
    stop: ({ dockId }, command) => precedence.during(() => docks.getForCommand(dockId).stop(command)),
    capture: ({ dockId }, command) => precedence.during(() => docks.getForCommand(dockId).capture(command)),
    destroy: ({ dockId }, command) =>
      precedence.during(async () => {
        await instance.requireCurrent(command.epoch)
        return docks.getForCommand(dockId).destroy(command)
      }),
    applyEnvironment: ({ dockId }, request) => docks.getForCommand(dockId).applyEnvironment(request),
    exec: ({ dockId }, request, { signal }) => {
      precedence.take()
      return knownDock(docks, dockId).exec(request, signal)
    },
    setup: ({ dockId }, request) => knownDock(docks, dockId).setup(request),
    cloneRepositories: ({ dockId }, request) => knownDock(docks, dockId).cloneRepositories(request),
    signalProcess: ({ dockId, processId }, { signal }) =>
      docks.find(dockId)?.signalProcess(processId, signal),
    resizeProcess: ({ dockId, processId }, size) => docks.find(dockId)?.resizeProcess(processId, size),
  } satisfies Partial<Handlers>
}

/** Calls about the host itself: its memory of the instance, its warm pool, a test of its runtime, its events. */
import type { Handlers } from './bind-calls.ts'
import { createEventStream } from './event-stream.ts'
import type { HostView } from './host-view.ts'

export function hostHandlers(view: HostView) {
  const { docks, instance, warmPool } = view
  return {
    events: () => createEventStream(view),
    sendInstanceMemory: (_host, memory) => instance.keep(memory),
    readInstanceMemory: () => instance.read(),
    testRuntime: (_host, wanted) => docks.testRuntime(wanted),
    keepWarmPool: (_host, { kind, second }) => warmPool.keep(kind, second),
  } satisfies Partial<Handlers>
}

/** Kept processes at the agent's start: those of an adopted sandbox run on, all others have ended. */
import { processEndOf, type SandboxHandle, StreamsLost } from '@dock/runtime'
import type { DockState } from '../dock-state.ts'
import { createKeptProcess, type KeptProcess } from './kept-process.ts'
import { recordEnd } from './kept-processes.ts'
import { endKept, watchTimeout } from './start-kept.ts'

/** Reads the records of the Dock. Call it before anything else needs them. Nothing runs yet. */
export async function loadKept(dock: DockState): Promise<void> {
  const { keptRecords } = dock.parts
  for (const record of await keptRecords.read(dock.dockId))
    dock.kept.set(record.processId, createKeptProcess(record, null))
}

/** True if the process may run in the sandbox that the Dock has now. */
const mayRun = (dock: DockState, { record }: KeptProcess): boolean =>
  record.end === null &&
  record.reference !== null &&
  record.generation === dock.generation &&
  record.bootId === dock.parts.bootId

/** Returns the marks of commands that are kept processes. Nobody else may end them. */
export function keptMarks(dock: DockState): Set<string> {
  return new Set(
    [...dock.kept.values()].flatMap((each) =>
      mayRun(dock, each) && each.record.reference ? [each.record.reference.mark] : [],
    ),
  )
}

/** Takes over the processes that an earlier agent started in this sandbox. Records the end of the others. */
export async function adoptKept(dock: DockState, sandbox: SandboxHandle | null): Promise<void> {
  for (const process of dock.kept.values()) {
    if (process.record.end) continue
    if (sandbox && mayRun(dock, process)) {
      process.sandbox = sandbox
      adopt(dock, process, sandbox).catch((error: unknown) => {
        const { processId } = process.record
        dock.logger.warn({ err: error, processId }, 'could not take over a kept process')
      })
    } else {
      const reason = process.record.reference ? 'dock_ended' : 'lost'
      await recordEnd(dock, process, { exitCode: null, signal: null, reason })
    }
  }
}

const adopt = async (dock: DockState, process: KeptProcess, sandbox: SandboxHandle): Promise<void> => {
  const { driver, keeper } = dock.parts
  const { reference, generation, processId } = process.record
  const use = await dock.use(generation)
  try {
    const streams = (await keeper.states(dock.dockId))[processId]
    if (!streams || streams.lost) endKept(dock, process, sandbox, 'keeper_lost')
    else {
      // The earlier agent may have died before it did this.
      await keeper.markStarted(dock.dockId, processId)
      watchTimeout(dock, process, sandbox)
    }
    const code = reference && (await driver.waitForExec(sandbox, reference))
    const end = code == null ? { exitCode: null, signal: null } : processEndOf(code)
    const known = code == null ? 'lost' : end.signal === null ? 'exited' : 'signaled'
    await recordEnd(dock, process, { ...end, reason: process.endedBecause ?? known })
  } catch (error) {
    const isOver = dock.live !== sandbox
    if (!isOver && !(error instanceof StreamsLost)) throw error
    const reason = isOver ? 'dock_ended' : 'keeper_lost'
    await recordEnd(dock, process, { exitCode: null, signal: null, reason })
  } finally {
    use.release()
  }
}

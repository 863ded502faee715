/**
 * Ends the commands that an earlier agent left running in an adopted sandbox. Their callers were told that they failed, and
 * nobody enforces their timeouts any more. A program on a pseudo-terminal is hung up instead, as if its window had closed.
 * Background processes, kept processes and a setup script (which is rejoined) go on.
 */
import { SandboxGone, type SandboxHandle } from '@dock/runtime'
import type { DockState } from '../sandboxes/dock-state.ts'
import { keptMarks } from '../sandboxes/kept-processes/adopt-kept.ts'

const retryMs = 5_000

/** Resolves when every such command was ended or the sandbox is no longer the Dock's. Retries until then. */
export async function endAbandoned(dock: DockState, sandbox: SandboxHandle): Promise<void> {
  const { freezer, clock } = dock.parts
  while (dock.live === sandbox) {
    try {
      await freezer.thaw(sandbox, 'idle')
      // While the pool guard freezes the sandbox, it runs nothing and cannot be asked. Try again later.
      if (!freezer.shouldBeFrozen(sandbox)) return await endAll(dock, sandbox)
    } catch (error) {
      if (error instanceof SandboxGone) return
      dock.logger.warn({ err: error }, 'could not end the commands of an earlier agent; retrying')
    }
    await new Promise<void>((resolve) => clock.after(retryMs, resolve))
  }
}

const endAll = async (dock: DockState, sandbox: SandboxHandle): Promise<void> => {
  const { driver } = dock.parts
  const abandoned = await driver.abandonedExecs(sandbox)
  const setup = dock.record?.setup
  const joined = setup?.outcome === null ? setup.reference?.mark : undefined
  const kept = keptMarks(dock)
  // Do not wait for their exit codes: the runtime continues the wait that the earlier agent began.
  await Promise.all(
    abandoned
      .filter(({ mark }) => mark !== joined && !kept.has(mark))
      .map((each) =>
        each.pty ? driver.signalProcess(sandbox, each, 'HUP', 'attached') : driver.endExec(sandbox, each),
      ),
  )
}

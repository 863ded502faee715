/**
 * Ends what an earlier agent had under way in a sandbox that is adopted: its callers were told that it failed, and nobody
 * watches its time any more. What ended commands left in the background goes on, and so do terminals and a setup script,
 * which is joined.
 */
import { SandboxGone, type SandboxHandle } from '@dock/runtime'
import type { DockState } from './dock-state.ts'

const retryMs = 5_000

/** Resolves when nothing of it is left, or the sandbox is no longer the Dock's; tries again until then. */
export async function endAbandoned(dock: DockState, sandbox: SandboxHandle): Promise<void> {
  const { freezer, clock } = dock.parts
  while (dock.live === sandbox) {
    try {
      await freezer.thaw(sandbox, 'idle')
      // Nothing can be asked of it while the guard holds it, and nothing goes on in it.
      if (!freezer.holds(sandbox)) return await endAll(dock, sandbox)
    } catch (error) {
      if (error instanceof SandboxGone) return
      dock.logger.warn({ err: error }, 'commands of an earlier agent could not be ended')
    }
    await new Promise<void>((resolve) => clock.after(retryMs, resolve))
  }
}

const endAll = async (dock: DockState, sandbox: SandboxHandle): Promise<void> => {
  const { driver } = dock.parts
  const abandoned = (await driver.abandonedExecs?.(sandbox)) ?? []
  const setup = dock.record?.setup
  const joined = setup?.outcome === null ? setup.reference?.mark : undefined
  // None is waited for: the runtime goes on with the wait that the earlier agent began.
  await Promise.all(
    abandoned.filter(({ mark }) => mark !== joined).map((each) => driver.endExec?.(sandbox, each)),
  )
}

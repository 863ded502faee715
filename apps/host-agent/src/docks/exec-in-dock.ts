/** One command of a tenant, under a login bash as the Dock user. Beside the Dock's queue: it changes no state. */
import type { ExecInDock, ExecOutcome } from '@dock/host-protocol'
import { AgentRefusal } from './agent-refusal.ts'
import { decodeOutput } from './decode-output.ts'
import type { DockState, SandboxUse } from './dock-state.ts'
import { loginShell } from './login-shell.ts'

/** Commands of one Dock that may run at once. */
export const execsInFlightMax = 4

/** Runs the command to its end or its timeout; refused with `busy` while {@link execsInFlightMax} run. */
export const execInDock = async (dock: DockState, request: ExecInDock): Promise<ExecOutcome> => {
  if (dock.execsInFlight >= execsInFlightMax) {
    throw new AgentRefusal('busy', `${execsInFlightMax} commands are under way`)
  }
  dock.execsInFlight += 1
  let use: SandboxUse | undefined
  try {
    use = await dock.use(request.generation)
    const result = await dock.parts.driver.exec(use.sandbox, {
      ...loginShell(request.command, request.env),
      cwd: request.cwd,
      timeoutMs: request.timeoutMs,
      outputLimitBytes: request.outputLimitBytes,
    })
    const { exitCode, durationMs, timedOut } = result
    return { exitCode, durationMs, timedOut, ...decodeOutput(result, request.outputLimitBytes) }
  } finally {
    dock.execsInFlight -= 1
    use?.release()
  }
}

/** Runs a tenant's command in a login bash as the Dock user. Changes no state, so it does not wait for other commands. */
import type { ExecInDock, ExecOutcome } from '@dock/host-protocol'
import { type ExecResult, SandboxGone, SandboxShortOfMemory } from '@dock/runtime'
import { AgentRefusal } from './agent-refusal.ts'
import { decodeOutput, withLastLine } from './decode-output.ts'
import type { DockState, SandboxUse } from './dock-state.ts'
import { loginShell } from './login-shell.ts'
import { formatOutOfMemory } from './out-of-memory.ts'

/** Maximum number of commands of one Dock that run at the same time. */
export const execsInFlightMax = 4

/** Runs the command to its end or timeout, or until `gone` aborts, if the request wants that. Throws `busy` while {@link execsInFlightMax} commands run. */
export async function execInDock(
  dock: DockState,
  request: ExecInDock,
  gone?: AbortSignal,
): Promise<ExecOutcome> {
  if (dock.execsInFlight >= execsInFlightMax) {
    throw new AgentRefusal('busy', `${execsInFlightMax} commands are running; wait until one has ended`)
  }
  dock.execsInFlight += 1
  let use: SandboxUse | undefined
  try {
    use = await dock.use(request.generation)
    const result = await run(dock, use, request, gone)
    const { exitCode, durationMs, timedOut, killedForMemory = [] } = result
    const output = decodeOutput(result, request.outputLimitBytes)
    if (killedForMemory.length > 0) {
      const memoryMiB = dock.record?.spec?.memoryMiB ?? 0
      output.stderr = withLastLine(
        output.stderr,
        formatOutOfMemory(killedForMemory, memoryMiB),
        request.outputLimitBytes,
      )
    }
    return { exitCode, durationMs, timedOut, ...output }
  } finally {
    dock.execsInFlight -= 1
    use?.release()
  }
}

/** If the sandbox ends, the command may have run. The error must not be one after which a caller sends it again. */
const run = async (
  dock: DockState,
  { sandbox }: SandboxUse,
  request: ExecInDock,
  gone: AbortSignal | undefined,
): Promise<ExecResult> => {
  const { command, env, cwd, timeoutMs, outputLimitBytes } = request
  try {
    const signal = request.endsWithCaller && gone ? { signal: gone } : {}
    const wanted = { ...loginShell(command, env), cwd, timeoutMs, outputLimitBytes, ...signal }
    return await dock.parts.driver.exec(sandbox, wanted)
  } catch (error) {
    const isShort = error instanceof SandboxShortOfMemory
    if (!isShort && !(error instanceof SandboxGone)) throw error
    if (isShort || error.ranOutOfMemory)
      throw new AgentRefusal('out_of_memory', 'the Dock ran out of memory while the command ran', {
        cause: error,
      })
    throw new AgentRefusal('failed', 'the Dock ended while the command ran', { cause: error })
  }
}

/**
 * Runs a Dock's setup script once, as the Dock user, with its output in a log file inside the Dock. The record is saved
 * before the script starts and holds a reference to the process, so that a lost link or a new agent never runs it twice.
 */
import { waitAtMost } from '@dock/foundation'
import type { SetupDock, SetupOutcome } from '@dock/host-protocol'
import { SandboxGone, type SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockRecord } from '../sandboxes/dock-record.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { dockUser, loginShell } from '../sandboxes/login-shell.ts'

type BegunSetup = NonNullable<DockRecord['setup']>

const outputBytesMax = 4096
const finishTimeoutMs = 10_000
/** Minimum time to learn about a script that ended while no agent was running. */
const rejoinMsMin = 2_000
/** How long the response waits for the script's process tree to end. Ending it goes on after that. */
const endingMs = 30_000
/** Reported if the exit code cannot be determined. */
const unknownExitCode = 255

// The script arrives on standard input and is passed to bash as a file descriptor: it can have any length, and appears in no
// argument and on no disk. A separate process writes the log, so that processes which the script leaves in the background
// can go on writing. The loop at the end waits for the last lines only.
const runner = `
IFS= read -rd '' script
cd "$HOME/work" 2>/dev/null || cd "$HOME" || exit
mkdir -p "$HOME/.dock" && rm -f "$HOME/.dock/setup.log" || exit
exec > >(exec tee "$HOME/.dock/setup.log" >/dev/null) 2>&1
log=$!
bash <(printf '%s' "$script") </dev/null
code=$?
exec >/dev/null 2>&1
for _ in {1..20}; do kill -0 "$log" || break; sleep 0.05; done
exit "$code"
`

const finisher = `
cd ${dockUser.home}/.dock || exit 0
if [ -f setup.log ]; then chown 0:0 setup.log; chmod 0444 setup.log; tail -c "$1" setup.log; fi
`

/** Makes the log read-only and returns its last complete lines. An incomplete line might show part of a secret. */
const finish = async (dock: DockState, sandbox: SandboxHandle): Promise<string> => {
  const { stdout } = await dock.parts.driver.exec(sandbox, {
    argv: ['/bin/bash', '-c', finisher, 'setup', String(outputBytesMax)],
    env: { PATH: '/usr/bin:/bin' },
    ...{ cwd: '/', uid: 0, gid: 0, timeoutMs: finishTimeoutMs, outputLimitBytes: outputBytesMax },
  })
  const text = stdout.toString('utf8')
  return stdout.length < outputBytesMax ? text : text.replace(/^[^\r\n]*[\r\n]?/, '')
}

const run = async (dock: DockState, sandbox: SandboxHandle, request: SetupDock): Promise<SetupOutcome> => {
  const { operationId, generation } = request
  const startedAt = dock.parts.clock.now().toISOString()
  const begun = { operationId, generation, startedAt, reference: null, outcome: null }
  await dock.note({ setup: begun })
  const { exitCode, timedOut } = await dock.parts.driver.exec(sandbox, {
    ...loginShell(runner),
    ...{ cwd: '/', timeoutMs: request.timeoutMs, outputLimitBytes: 1024, input: request.script },
    onStarted: (reference) => {
      dock.note({ setup: { ...begun, reference } }).catch((error: unknown) => {
        dock.logger.warn({ err: error }, 'could not record where the setup script runs')
      })
    },
  })
  return { exitCode, timedOut, output: await finish(dock, sandbox) }
}

/** Waits for a script that an earlier agent started. Ends it when its timeout, counted from its start, is over. */
const rejoin = async (
  dock: DockState,
  sandbox: SandboxHandle,
  { reference, generation, startedAt }: BegunSetup,
  timeoutMs: number,
): Promise<SetupOutcome> => {
  const { driver, clock } = dock.parts
  const isHere = reference !== null && generation === dock.record?.generation
  const ranMs = startedAt === null ? 0 : clock.now().getTime() - Date.parse(startedAt)
  const leftMs = Math.max(rejoinMsMin, timeoutMs - ranMs)
  const joined = isHere ? driver.waitForExec(sandbox, reference) : undefined
  const exitCode = joined && (await waitAtMost(clock, leftMs, joined))
  const timedOut = exitCode === 'late'
  if (isHere && timedOut) await waitAtMost(clock, endingMs, driver.endExec(sandbox, reference))
  return {
    exitCode: timedOut ? unknownExitCode : (exitCode ?? unknownExitCode),
    timedOut,
    output: await finish(dock, sandbox),
  }
}

/** Runs the script to its end. If this operation has already started it, waits for that run and returns its outcome. */
export async function setupDock(dock: DockState, request: SetupDock): Promise<SetupOutcome> {
  const known = dock.record?.setup?.operationId === request.operationId ? dock.record.setup : null
  if (known?.outcome) return known.outcome
  const { sandbox, release } = await dock.use(request.generation)
  try {
    const outcome = await (known
      ? rejoin(dock, sandbox, known, request.timeoutMs)
      : run(dock, sandbox, request))
    // The Dock is being stopped, so the exit code says nothing about the script.
    if (dock.live !== sandbox) throw new SandboxGone('the Dock is being stopped')
    const { operationId, generation } = request
    await dock.note({ setup: { operationId, generation, startedAt: null, reference: null, outcome } })
    return outcome
  } catch (error) {
    if (dock.live === sandbox && !(error instanceof SandboxGone)) throw error
    throw new AgentRefusal('not_running', 'the Dock ended while its setup script ran', { cause: error })
  } finally {
    release()
  }
}

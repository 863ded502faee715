/**
 * A Dock's setup script: runs once, as the Dock user, its output in a log inside. The record says that it was begun before
 * it is, and where it runs, so that neither a lost link nor another agent runs it twice.
 */
import type { SetupDock, SetupOutcome } from '@dock/host-protocol'
import { SandboxGone, type SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from './agent-refusal.ts'
import type { DockRecord } from './dock-record.ts'
import type { DockState } from './dock-state.ts'
import { dockUser, loginShell } from './login-shell.ts'
import { within } from './within.ts'

type BegunSetup = NonNullable<DockRecord['setup']>

const outputBytesMax = 4096
const finishTimeoutMs = 10_000
/** To be told of a script that ended while no agent was there. */
const rejoinMsMin = 2_000
/** How long the answer waits for the end of a script's tree; the work on it goes on after that. */
const endingMs = 30_000
/** Of a command that nobody can tell the exit code of. */
const unknownExitCode = 255

// The script comes by standard input and reaches its bash as a file descriptor: of any length, in no arguments, on no
// disk. The log has a process of its own, so that what the script leaves in the background can go on writing; the wait
// at the end is for the last lines, not for that.
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

/** The log's last whole lines, made read-only by the way: half a line might end with half a secret. */
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
        dock.logger.warn({ err: error }, 'where the setup script runs could not be noted')
      })
    },
  })
  return { exitCode, timedOut, output: await finish(dock, sandbox) }
}

/** Waits for a script that an earlier agent began, and ends it when the time is up that it has had from its beginning. */
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
  const joined = isHere ? driver.waitForExec?.(sandbox, reference) : undefined
  const exitCode = joined && (await within(clock, leftMs, joined))
  const timedOut = exitCode === 'late'
  if (isHere && timedOut) await within(clock, endingMs, Promise.resolve(driver.endExec?.(sandbox, reference)))
  return {
    exitCode: timedOut ? unknownExitCode : (exitCode ?? unknownExitCode),
    timedOut,
    output: await finish(dock, sandbox),
  }
}

/** Runs the script to its end, or answers the end of the run that this operation has begun before. */
export async function setupDock(dock: DockState, request: SetupDock): Promise<SetupOutcome> {
  const known = dock.record?.setup?.operationId === request.operationId ? dock.record.setup : null
  if (known?.outcome) return known.outcome
  const { sandbox, release } = await dock.use(request.generation)
  try {
    const outcome = await (known
      ? rejoin(dock, sandbox, known, request.timeoutMs)
      : run(dock, sandbox, request))
    // Told to end with its Dock: how it then ended says nothing of the script.
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

/** The steps of a turn that work in the machine. Each can be repeated: what it started before is found again. */
import { sql } from 'kysely'
import { agentCommand } from '../machine/agent-commands.ts'
import { phaseId, testsPhase } from '../machine/phase-id.ts'
import { promptVersion, writePrompt } from '../machine/prompt.ts'
import { followInDock, runInDock, startInDock } from '../machine/run-in-dock.ts'
import { checkoutScript, cloneFolder, pushScript, testScript } from '../machine/scripts.ts'
import { moveRun, tellOnce } from '../move-run.ts'
import type { RunRow } from '../run-store.ts'
import { appendLog, findTurn, readCost } from '../turn-store.ts'
import { closeDoor } from './end-agent.ts'
import { runFailed, runStopped } from './run-ended.ts'
import { onMachine, pause, readLiveRun, readMachine, type TurnParts } from './turn-context.ts'
import type { TurnOperation } from './turn-data.ts'

const cloneTimeoutMs = 10 * 60_000
const gitTimeoutMs = 10 * 60_000
const triesMax = 4
const tryPauseMs = 2_000
const testTimeoutMs = 30 * 60_000
const readBytesMax = 256 * 1024
const reasonLengthMax = 500

/** Variables of every command of a turn. */
const variablesOf = (run: RunRow): Record<string, string> => ({
  RUN_ID: run.id,
  RUN_FOLDER: cloneFolder(run.repo),
  RUN_REPOSITORY: run.repo,
  RUN_BRANCH: run.branch,
  RUN_BASE: run.baseBranch,
  GIT_TERMINAL_PROMPT: '0',
})

/** Returns the end of a command's output as one line for people. */
const lastWords = (output: string): string =>
  output
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(-reasonLengthMax)

/** Opens the door, clones the repository if it is not there, and checks out the Run's branch. */
export async function cloneRepository(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, clock, gateway, gitServer } = parts
  const run = await readLiveRun(parts, operation)
  const now = clock.now()
  await sql`update runs r set door_open = true, updated_at = ${now}
    where r.id = ${run.id} and r.stop_reason is null and r.state in ('provisioning', 'working')`.execute(db)
  const repository = {
    id: run.id,
    name: run.repo,
    folder: cloneFolder(run.repo),
    branch: run.baseBranch,
    url: `${gitServer}/${run.repo}.git`,
    doorPath: `github/${run.repo}.git`,
    hasSetupScript: false,
  }
  let isNew = false
  await withTries(parts, async () => {
    const { failed, cloned } = await onMachine(parts, operation, ({ hostId, dockId, generation }) =>
      gateway.cloneRepositories(
        { hostId, dockId },
        { operationId: operation.id, generation, repositories: [repository], timeoutMs: cloneTimeoutMs },
      ),
    )
    isNew = cloned.includes(run.id)
    return failed[0] ? `The repository could not be cloned: ${lastWords(failed[0].reason)}` : null
  })
  const output = await gitCommand(
    parts,
    operation,
    'checkout',
    checkoutScript,
    'The branch could not be checked out',
    { RUN_IS_CLONED: isNew ? '1' : '' },
  )
  const base = /^base ([0-9a-f]{40,64})$/m.exec(output)?.[1] ?? null
  await sql`update runs r set base_commit = coalesce(r.base_commit, ${base}::text),
      prompt_version = ${promptVersion}, updated_at = ${now} where r.id = ${run.id}`.execute(db)
  if (operation.data.turn === 1) await tellOnce(db, run.id, ['machine_ready', 'cloned'], now)
}

/** Runs one of the platform's own commands to its end. */
const command = async (
  parts: TurnParts,
  operation: TurnOperation,
  phase: string,
  script: string,
  timeoutMs: number,
  env: Record<string, string> = {},
): Promise<{ exitCode: number | null; text: string }> => {
  const run = await readLiveRun(parts, operation)
  const request = {
    processId: phaseId(operation.data.turnId, phase),
    command: script,
    env: { ...variablesOf(run), ...env },
    timeoutMs,
  }
  const { end, output } = await onMachine(parts, operation, (machine) =>
    runInDock(parts.gateway, machine, request, async () => void (await readLiveRun(parts, operation))),
  )
  return { exitCode: end.exitCode, text: output }
}

/**
 * Repeats work at the door. The control plane serves the door, so a connection breaks whenever the control plane ends. The
 * work returns why it failed, or null.
 */
const withTries = async (
  parts: TurnParts,
  work: (attempt: number) => Promise<string | null>,
): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const reason = await work(attempt)
    if (reason === null) return
    if (attempt === triesMax) throw runFailed(reason)
    await pause(parts, attempt * tryPauseMs)
  }
}

/** Runs a command of git that uses the door, and returns its output. */
const gitCommand = async (
  parts: TurnParts,
  operation: TurnOperation,
  phase: string,
  script: string,
  what: string,
  env: Record<string, string> = {},
): Promise<string> => {
  let output = ''
  await withTries(parts, async (attempt) => {
    const { exitCode, text } = await command(
      parts,
      operation,
      `${phase} ${attempt}`,
      script,
      gitTimeoutMs,
      env,
    )
    output = text
    return exitCode === 0 ? null : `${what}: ${lastWords(text)}`
  })
  return output
}

/** Starts the agent, and gives it the prompt. */
export async function startAgent(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, clock, gateway } = parts
  const { turnId, turn: number } = operation.data
  const run = await readLiveRun(parts, operation)
  const turn = await findTurn(db, run.id, turnId)
  if (!turn) throw runStopped('The Run was deleted.')
  const atDoor = await parts.door.find({ ...(await readMachine(parts, operation)) })
  const start = agentCommand({
    agent: run.agent,
    settings: run.settings,
    isContinued: number > 1 && !operation.data.hasNoSession,
    providers: atDoor?.mayUseModels ? await parts.door.modelProviders(atDoor) : null,
  })
  if ('reason' in start) throw runFailed(start.reason)
  const input = writePrompt(run, turn)
  await onMachine(parts, operation, (machine) =>
    startInDock(gateway, machine, {
      processId: turnId,
      command: start.command,
      env: { ...variablesOf(run), ...start.env },
      input,
      timeoutMs: run.settings.timeoutSeconds * 1000,
    }),
  )
  const now = clock.now()
  await sql`update run_turns set started_at = ${now} where id = ${turnId} and started_at is null`.execute(db)
  if (
    await moveRun(db, {
      runId: run.id,
      to: 'working',
      cause: 'agent_started',
      events: ['agent_started'],
      now,
    })
  )
    return
  // Later turns are in state `working` already, and so is a turn that resumes after a crash.
  if ((await readLiveRun(parts, operation)).state !== 'working') throw runStopped('The Run has ended.')
}

/** Ends the Run if its models have cost what it may spend. */
const requireBudget = async (db: TurnParts['db'], { id, settings: { budgetUsd } }: RunRow): Promise<void> => {
  if (budgetUsd > 0 && (await readCost(db, id)).costMicroUsd >= budgetUsd * 1e6)
    throw runFailed('The budget of the Run is spent.', { completionStatus: 'budget_exhausted' })
}

/** Copies the agent's output into the log until the agent ends. */
export async function followAgent(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, gateway } = parts
  const { turnId } = operation.data
  for (;;) {
    const run = await readLiveRun(parts, operation)
    const turn = await findTurn(db, run.id, turnId)
    if (!turn) throw runStopped('The Run was deleted.')
    await requireBudget(db, run)
    const { bytes, start, end } = await onMachine(parts, operation, ({ hostId, dockId }) =>
      followInDock(gateway, { hostId, dockId, processId: turnId }, turn.sourceBytes, readBytesMax),
    )
    if (bytes.length > 0) await appendLog(db, turnId, start, bytes)
    if (end === null) continue
    const { reason, exitCode } = end
    if (reason === 'timed_out')
      throw runFailed('The agent took longer than the Run may.', { completionStatus: 'timed_out' })
    if (reason === 'dock_ended' || reason === 'keeper_lost' || reason === 'lost')
      throw runFailed('The machine of the Run was lost.', { isHostLost: true })
    if (exitCode !== 0) {
      // Once the budget is used up, requests to models are refused, which may make the agent end.
      await requireBudget(db, run)
      throw runFailed(
        reason === 'out_of_memory'
          ? 'The agent needed more memory than its machine has.'
          : `The agent ended with exit code ${exitCode}.`,
        { completionStatus: 'agent_failed' },
      )
    }
    return
  }
}

/** Runs the tests. Their failure does not fail the Run: the draft says so. */
export async function runTests(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db, clock } = parts
  const { testCommand, id } = await readLiveRun(parts, operation)
  if (testCommand === null) return
  const { exitCode } = await command(parts, operation, testsPhase, testScript(testCommand), testTimeoutMs)
  operation.data.testsPassed = exitCode === 0
  const event = exitCode === 0 ? 'tests_passed' : 'tests_failed'
  await tellOnce(db, id, [event], clock.now())
}

/** Pushes the branch. Afterwards the door is closed. */
export async function pushBranch(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { db } = parts
  const run = await readLiveRun(parts, operation)
  const turn = await findTurn(db, run.id, operation.data.turnId)
  const message = `${turn?.text.title.slice(0, 60) ?? 'Work on an issue'} (#${run.issueNumber})`
  const text = await gitCommand(parts, operation, 'push', pushScript, 'The branch could not be pushed', {
    RUN_MESSAGE: message,
  })
  operation.data.headCommit = /^head ([0-9a-f]{40,64})$/m.exec(text)?.[1] ?? null
  await closeDoor(parts, run.id)
}

/**
 * The saga of a turn. A failure or stop is no failure of the saga: it becomes the turn's outcome, after which only the
 * steps that clean up and report are left.
 */
import { liveRunStates, type RunEventType } from '@dock/contract'
import { sql } from 'kysely'
import { type Tx, withTransaction } from '../../../database/database.ts'
import { completeLeasedOperation, LeaseLost, type OperationError, type Saga } from '../../../engine/index.ts'
import { retentionEnabled } from '../../accounts/index.ts'
import { keepRunningMs } from '../keep-running.ts'
import { moveRun } from '../move-run.ts'
import { findRun } from '../run-store.ts'
import { startNextTurn } from '../signals/next-turn.ts'
import { findTurn, hasNewMachine } from '../turn-store.ts'
import { endAgent } from './end-agent.ts'
import { getMachine } from './get-machine.ts'
import { announce, completionOf, publishBranch, tellOutcome } from './publish.ts'
import { RunEnded, runMerged, type TurnOutcome } from './run-ended.ts'
import { restoreSession, saveSession } from './session.ts'
import { readLiveRun, type TurnParts } from './turn-context.ts'
import { type TurnData, type TurnOperation, turnData } from './turn-data.ts'
import { turnKind } from './turn-operation.ts'
import { cloneRepository, followAgent, pushBranch, runTests, startAgent } from './turn-steps.ts'

type Work = (parts: TurnParts, operation: TurnOperation) => Promise<void>

/** Brings up the machine. The issue is told meanwhile, so that a slow GitHub delays nothing. */
const machine: Work = async (parts, operation) => {
  const run = await readLiveRun(parts, operation)
  const turn = await findTurn(parts.db, run.id, operation.data.turnId)
  const told = announce(parts, run)
  try {
    const { data } = operation
    await getMachine(parts, operation, {
      turn: data.turn,
      hasOutsiderText: turn?.hasOutsiderText ?? true,
    })
    // The machine itself may have become a Dock meanwhile, so the turn tells.
    data.isFresh = data.turn > 1 && (await hasNewMachine(parts.db, run.id, data.turnId))
  } finally {
    // Otherwise it could overwrite what the turn says at its end.
    await told
  }
}

export function createTurnSaga(parts: TurnParts): Saga<TurnData> {
  const { db, clock, owner, wake } = parts
  const work = (name: string, carryOut: Work): Saga<TurnData>['steps'][number] => ({
    name,
    isNeeded: ({ data }) => data.outcome === null,
    do: async (operation) => {
      try {
        await carryOut(parts, operation)
      } catch (error) {
        if (!(error instanceof RunEnded)) throw error
        operation.data.outcome = error.outcome
      }
    },
  })

  const complete = async (operation: TurnOperation, error: OperationError | null): Promise<void> => {
    const now = clock.now()
    const { data, targetId: runId } = operation
    const after = (ms: number): Date => new Date(now.getTime() + ms)
    const keptMs = (await retentionEnabled(db, operation.organizationId)) ? 0 : keepRunningMs.fast
    await withTransaction(db, async (tx) => {
      const completed =
        await sql`${completeLeasedOperation(operation, owner, error, { given: sql<boolean>`true`, now })}`.execute(
          tx,
        )
      if (completed.rows.length === 0) throw new LeaseLost(operation.id)
      const outcome = await outcomeOf(tx, operation)
      const { state, completionStatus, reason } = outcome
      await sql`update run_turns set ended_at = ${now}, completion_status = ${completionStatus}
        where id = ${data.turnId} and ended_at is null`.execute(tx)
      const { number = null, url = null } = data.pullRequest ?? {}
      await moveRun(tx, {
        runId,
        to: state,
        cause: outcome.isMerged ? 'merged' : causes[state],
        events: eventsOf(outcome, data),
        now,
        set: sql`, door_open = false, completion_status = ${completionStatus}, archive_at = case r.execution_target
            when 'fast' then ${after(keptMs)}::timestamptz else ${after(keepRunningMs.dock)}::timestamptz end,
          failure_reason = ${state === 'failed' ? reason : null}, pr_number = coalesce(${number}::int, r.pr_number),
          pr_url = coalesce(${url}::text, r.pr_url)`,
      })
      await startNextTurn(tx, runId, now)
    })
    wake()
    await endMachineOfEnded(parts, operation)
  }

  return {
    kind: turnKind,
    data: turnData,
    explain: () => ({ code: 'service_unavailable', message: 'The Run failed. Start it again.' }),
    steps: [
      work('machine', machine),
      work('clone', cloneRepository),
      work('restore session', restoreSession),
      work('agent', startAgent),
      work('follow', followAgent),
      work('tests', runTests),
      work('push', pushBranch),
      work('publish', publishBranch),
      work('save session', saveSession),
      { name: 'end', do: (operation) => endAgent(parts, operation) },
      { name: 'tell', do: (operation) => tellOutcome(parts, operation) },
    ],
    finish: (operation) => complete(operation, null),
    fail: async (operation, error) => {
      await endAgent(parts, operation)
      operation.data.outcome = { state: 'failed', reason: error.message, completionStatus: null }
      await complete(operation, error)
    },
  }
}

/** Returns how the turn ended. A wish to stop that came after the last step counts. */
const outcomeOf = async (tx: Tx, { data, targetId }: TurnOperation): Promise<TurnOutcome> => {
  if (data.outcome !== null) return data.outcome
  const { rows } = await sql<{ reason: string | null; isMerged: boolean }>`
    select stop_reason as reason, is_merged as "isMerged" from runs where id = ${targetId} for update`.execute(
    tx,
  )
  if (rows[0]?.isMerged) return runMerged
  const reason = rows[0]?.reason ?? null
  const completionStatus = completionOf(data.testsPassed)
  return { state: reason === null ? 'pr_opened' : 'stopped', reason, completionStatus }
}

/** Ends the machine of a fast Run that has ended. If that fails, the sweep does it. */
const endMachineOfEnded = async (parts: TurnParts, operation: TurnOperation): Promise<void> => {
  const { db, machines, logger } = parts
  const { organizationId, targetId: runId } = operation
  try {
    const run = await findRun(db, organizationId, runId)
    if (run && liveRunStates.includes(run.state)) return
    const machine = await machines.find(organizationId, runId)
    if (machine) await machines.end(machine)
  } catch (error) {
    logger.warn({ runId, err: error }, 'could not end the machine of a Run yet')
  }
}

const causes = { pr_opened: 'pull_request', done: 'no_commits', stopped: 'stop', failed: 'failure' } as const

const eventsOf = ({ state, isHostLost, isMerged }: TurnOutcome, { turn }: TurnData): RunEventType[] => {
  switch (state) {
    case 'pr_opened':
      return ['pushed', turn === 1 ? 'pr_opened' : 'pr_updated']
    case 'done':
      return isMerged ? ['merged'] : []
    case 'stopped':
      return ['stopped']
    case 'failed':
      return isHostLost ? ['host_lost', 'failed'] : ['failed']
  }
}

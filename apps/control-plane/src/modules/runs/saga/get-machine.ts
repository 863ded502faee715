/** Gets the machine of a turn, and waits for it while plan and hosts have no room. */
import { type ErrorCode, limits, ServiceError } from '@dock/contract'
import { isOpenAccount } from '../../accounts/index.ts'
import { bringUpDock } from './get-dock.ts'
import { bringUpFastMachine } from './get-fast-machine.ts'
import type { MachineTarget, WantedTurn } from './machine-owner.ts'
import { runFailed } from './run-ended.ts'
import { pause, readLiveRun, readMachine, type TurnParts } from './turn-context.ts'

const retryMs = 2_000

/** Refusals after which a later try may succeed. */
const passing = new Set<ErrorCode>([
  ...(['capacity_exhausted', 'no_host_capacity', 'concurrency_exceeded', 'service_unavailable'] as const),
  ...(['dock_busy', 'idempotency_in_progress', 'rate_limited', 'fast_run_concurrency_exceeded'] as const),
])

/** Brings up the machine. Throws {@link RunEnded} if that is impossible, or took too long. */
export async function getMachine(parts: TurnParts, target: MachineTarget, wanted: WantedTurn): Promise<void> {
  const { db, clock } = parts
  const minutes = limits.runs.pendingMinutesMax
  const until = clock.now().getTime() + minutes * 60_000
  const bringUpFast = bringUpFastMachine(parts, target, wanted)
  for (;;) {
    const run = await readLiveRun(parts, target)
    if (!(await isOpenAccount(db, run.createdBy)))
      throw runFailed(
        'The person who linked the installation has closed the account. A member must link it again.',
      )
    const waitsSince = run.state === 'pending' ? run.createdAt.getTime() + minutes * 60_000 : until
    const refusal = await retryable(() =>
      run.executionTarget === 'dock' ? bringUpDock(parts, run, wanted) : bringUpFast(run),
    )
    if (refusal === null) break
    if (clock.now().getTime() > waitsSince)
      throw runFailed(`The Run had no machine after ${minutes} minutes. The last reason: ${refusal}`)
    await pause(parts, retryMs)
  }
  await readMachine(parts, target)
}

/** Returns what the work returns, or why it must be tried again. Throws {@link RunEnded} if that is of no use. */
const retryable = async (work: () => Promise<string | null>): Promise<string | null> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (passing.has(error.code)) return error.message
    if (error.code === 'dock_not_found')
      throw runFailed(
        'The person who linked the installation is no longer a member. A member must link it again.',
      )
    throw runFailed(`No machine could be made: ${error.message}`, { cause: error })
  }
}

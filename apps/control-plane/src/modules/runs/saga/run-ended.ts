/** Thrown by a step of a Run's saga when the work is over. The steps that clean up and report still run. */
import type { CompletionStatus } from '@dock/contract'

/** How a turn ended. It is kept in the operation's data. */
export type TurnOutcome = {
  state: 'pr_opened' | 'done' | 'stopped' | 'failed'
  /** For people. Null unless the Run was stopped or has failed. */
  reason: string | null
  completionStatus: CompletionStatus | null
  isHostLost?: boolean | undefined
  isMerged?: boolean | undefined
}

export class RunEnded extends Error {
  override readonly name = 'RunEnded'
  readonly outcome: TurnOutcome
  constructor(outcome: TurnOutcome, options?: ErrorOptions) {
    super(outcome.reason ?? outcome.state, options)
    this.outcome = outcome
  }
}

export function runStopped(reason: string): RunEnded {
  return new RunEnded({ state: 'stopped', reason, completionStatus: null })
}

/** The work is over because somebody merged the pull request. */
export const runMerged: TurnOutcome = {
  state: 'done',
  reason: null,
  completionStatus: 'changes_pushed',
  isMerged: true,
}

export function runFailed(
  reason: string,
  more: { completionStatus?: CompletionStatus; isHostLost?: boolean; cause?: unknown } = {},
): RunEnded {
  const { completionStatus = null, isHostLost, cause } = more
  return new RunEnded({ state: 'failed', reason, completionStatus, isHostLost }, { cause })
}

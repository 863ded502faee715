/**
 * The states of a Run and every transition between them. A transition that is not in the table is refused. Final states
 * stay: a retry is a new Run.
 */
import { type RunState, runStates } from './objects/runs.ts'

/** Why a Run changes state. */
export type RunCause =
  /** A host has room, and the plan allows another Dock. */
  | 'admitted'
  /** The machine is up, the repository cloned, the agent started. */
  | 'agent_started'
  /** Commits exist on the Run's branch, and so does the pull request. */
  | 'pull_request'
  | 'no_commits'
  /** A writer's review or mention on the pull request. */
  | 'feedback'
  | 'merged'
  | 'closed'
  | 'stop'
  | 'failure'

export type RunTransitions = {
  readonly [From in RunState]: { readonly [To in RunState]?: readonly RunCause[] }
}

/** From → to → causes. */
export const runTransitions = {
  pending: { provisioning: ['admitted'], stopped: ['stop'], failed: ['failure'] },
  provisioning: { working: ['agent_started'], stopped: ['stop'], failed: ['failure'] },
  working: {
    pr_opened: ['pull_request'],
    done: ['no_commits', 'merged'],
    stopped: ['stop'],
    failed: ['failure'],
  },
  pr_opened: { working: ['feedback'], done: ['merged'], stopped: ['closed', 'stop'] },
  failed: {},
  stopped: {},
  done: {},
} as const satisfies RunTransitions

/** The states in which a Run can still change. */
export const liveRunStates = runStates.filter((state) => Object.keys(runTransitions[state]).length > 0)

/** Returns the states from which a cause leads to `to`. */
export function runStatesBefore(to: RunState, cause: RunCause): RunState[] {
  const table: RunTransitions = runTransitions
  return runStates.filter((from) => table[from][to]?.includes(cause))
}

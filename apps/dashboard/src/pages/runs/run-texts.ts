/** Words about Runs. */
import type { Run, RunEvent } from '@dock/sdk'
import type { Tone } from '../../components/badge.tsx'

export type RunState = Run['state']

/** In the order in which a Run passes them. */
export const runStates = [
  'pending',
  'provisioning',
  'working',
  'pr_opened',
  'done',
  'stopped',
  'failed',
] as const satisfies readonly RunState[]

export const stateNames: Record<RunState, string> = {
  pending: 'Pending',
  provisioning: 'Provisioning',
  working: 'Working',
  pr_opened: 'Pull request open',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
}

export const stateTones: Record<RunState, Tone> = {
  pending: 'wait',
  provisioning: 'wait',
  working: 'accent',
  pr_opened: 'good',
  done: 'good',
  stopped: 'neutral',
  failed: 'bad',
}

/** True while a Run can still change. */
export function isLive(state: RunState): boolean {
  return state === 'pending' || state === 'provisioning' || state === 'working' || state === 'pr_opened'
}

export const eventTexts: Record<RunEvent['t'], string> = {
  queued: 'Somebody asked for it',
  provisioning: 'Its machine is being made',
  machine_ready: 'The machine runs',
  cloned: 'The repository is cloned',
  agent_started: 'The agent has started',
  tests_passed: 'The tests passed',
  tests_failed: 'The tests failed',
  pushed: 'The branch was pushed',
  pr_opened: 'The draft pull request was opened',
  pr_updated: 'The pull request was updated',
  feedback: 'A reviewer asked for changes',
  promoted: 'It was promoted to a Dock',
  merged: 'The pull request was merged',
  closed: 'The pull request was closed',
  stopped: 'It was stopped',
  failed: 'It failed',
  host_lost: 'Its machine was lost',
}

const outcomes: Readonly<Record<string, string>> = {
  changes_pushed: 'changes pushed',
  tests_failed: 'changes pushed, tests fail',
  no_changes: 'no changes',
  answered: 'an answer without changes',
  timed_out: 'took too long',
  budget_exhausted: 'budget spent',
  agent_failed: 'the agent failed',
}

export function outcomeText(status: string | null): string {
  return status === null ? '–' : (outcomes[status] ?? status.replaceAll('_', ' '))
}

import * as z from 'zod'
import { integer, timestamp, uuid } from '../fields.ts'

export const runStates = [
  'pending',
  'provisioning',
  'working',
  'pr_opened',
  'failed',
  'stopped',
  'done',
] as const
export type RunState = (typeof runStates)[number]
export const runState = z.enum(runStates)

/** The words of a timeline. Text of an agent never enters it. */
export const runEventTypes = [
  'queued',
  'provisioning',
  'machine_ready',
  'cloned',
  'agent_started',
  'tests_passed',
  'tests_failed',
  'pushed',
  'pr_opened',
  'pr_updated',
  'feedback',
  'promoted',
  'merged',
  'closed',
  'stopped',
  'failed',
  'host_lost',
] as const
export type RunEventType = (typeof runEventTypes)[number]

/** How the work of a Run ended. */
export const completionStatuses = [
  'changes_pushed',
  'tests_failed',
  'no_changes',
  'answered',
  'timed_out',
  'budget_exhausted',
  'agent_failed',
] as const
export type CompletionStatus = (typeof completionStatuses)[number]

export const executionTarget = z.enum(['dock', 'fast'])
export const runEvent = z.strictObject({ t: z.enum(runEventTypes), at: timestamp })

export const run = z.strictObject({
  id: uuid,
  installationId: uuid,
  workspaceId: uuid,
  organizationId: uuid.nullable(),
  repo: z.string(),
  issueNumber: integer,
  dockId: uuid.nullable(),
  executionTarget,
  state: runState,
  prNumber: integer.nullable(),
  prUrl: z.string().nullable(),
  failureReason: z.string().nullable(),
  agent: z.string(),
  branch: z.string().nullable(),
  baseBranch: z.string(),
  promptVersion: z.string().nullable(),
  testCommand: z.string().nullable(),
  completionStatus: z.string().nullable(),
  events: z.array(runEvent),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Run = z.output<typeof run>

/** A part of the log of one turn. `nextOffset` is where to read on; `isComplete`: nothing will follow. */
export const runLogPart = z.strictObject({
  turn: integer,
  text: z.string(),
  nextOffset: integer,
  isComplete: z.boolean(),
})
export type RunLogPart = z.output<typeof runLogPart>

export const runCost = z.strictObject({
  turns: integer,
  inputTokens: integer,
  outputTokens: integer,
  costUsd: z.number(),
  budgetUsd: z.number(),
})
export type RunCost = z.output<typeof runCost>

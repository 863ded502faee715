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

export const executionTarget = z.enum(['dock', 'fast'])
export const runEvent = z.strictObject({ t: z.string(), at: timestamp })

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

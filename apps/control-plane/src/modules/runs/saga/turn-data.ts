/** What the operation of a turn keeps in its row. */
import { completionStatuses, uuid } from '@dock/contract'
import * as z from 'zod'
import { firstVersion, type OperationRow } from '../../../engine/index.ts'

export const turnData = z.strictObject({
  dataVersion: firstVersion,
  turnId: uuid,
  turn: z.number().int(),
  /** Null: the Run has no test command, or it did not get that far. */
  testsPassed: z.boolean().nullable().default(null),
  pullRequest: z.strictObject({ number: z.number().int(), url: z.string() }).nullable().default(null),
  /** Commit of the Run's branch after the push. */
  headCommit: z.string().nullable().default(null),
  /** True if a machine without a Dock was made for this turn, though not for the first. */
  isFresh: z.boolean().optional(),
  /** Set once it is known: the agent has no session of an earlier turn in its machine. */
  hasNoSession: z.boolean().optional(),
  outcome: z
    .strictObject({
      state: z.enum(['pr_opened', 'done', 'stopped', 'failed']),
      reason: z.string().nullable(),
      completionStatus: z.enum(completionStatuses).nullable(),
      isHostLost: z.boolean().optional(),
      isMerged: z.boolean().optional(),
    })
    .nullable()
    .default(null),
})
export type TurnData = z.infer<typeof turnData>
export type TurnOperation = OperationRow<TurnData>

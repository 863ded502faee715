/**
 * What shall follow from a webhook. A plan is made by reading, also from GitHub, and changes nothing. It is applied in the
 * transaction that marks the webhook as processed.
 */
import type { Tx } from '../../../database/database.ts'
import type { RunSignal, RunTrigger } from '../run-triggers.ts'

export type Plan =
  /** Nothing follows. The outcome says why, for the operator. */
  | { kind: 'none'; outcome: string }
  | { kind: 'start'; trigger: RunTrigger }
  /** `key` is that of a stop, which counts as no trigger. */
  | { kind: 'signal'; signal: RunSignal; key?: string }
  | { kind: 'change'; outcome: string; apply: (tx: Tx) => Promise<void> }

export function nothing(outcome: string): Plan {
  return { kind: 'none', outcome }
}

/** Finds the reason of a stop in the record of the state change. */
import type { DockCause, DockState, DockStopReason } from '@dock/contract'
import type { Cause } from '../../../engine/index.ts'
import type { HeldWhy } from '../boot/recovery.ts'
import type { StopDetails } from '../core/stop-details.ts'

export type RecordedStop = {
  at: Date
  toState: DockState
  cause: Omit<Cause, 'why'> & StopDetails & { why: DockCause | 'adopted' }
  person: string | null
  /** True if the person in `cause` is a member of the Dock's organization. */
  isKnown: boolean
  keyName: string | null
  /** True if the Dock's sandbox ended for lack of memory in the ten minutes before. */
  ranOutOfMemory: boolean
}

/** A stop was begun by its creator, unless the record names another part of Dock. */
const reasonOfStop = ({ by, through, disk }: RecordedStop['cause']): DockStopReason => {
  if (by === 'ttl') return 'ttl'
  if (by === 'runs') return 'run_ended'
  // Only the closing of an account stops Docks in the name of a person, but by a timer.
  if (through === 'timer') return 'account_closed'
  return disk === 'nothing_saved' ? 'forced' : 'requested'
}

/** Earlier records, without `held`, come from a recovery that failed. */
const reasonOfLoss = (held: HeldWhy | undefined, ranOutOfMemory: boolean): DockStopReason => {
  switch (held) {
    case 'died_too_often':
      return ranOutOfMemory ? 'out_of_memory' : 'ended_too_often'
    case 'disk_gone':
      return 'disk_lost'
    case 'would_not_start':
    case undefined:
      return 'recovery_failed'
  }
}

export function stopReasonOf({ cause, ranOutOfMemory }: RecordedStop): DockStopReason {
  switch (cause.why) {
    case 'adopted':
      return 'adopted'
    case 'resume_failed':
      return 'resume_failed'
    case 'start_failed':
      return 'start_failed'
    case 'lost_for_good':
      return reasonOfLoss(cause.held, ranOutOfMemory)
    case 'capture_failed':
      return 'capture_failed'
    case 'host_silent':
      return 'host_silent'
    case 'ttl':
      return 'ttl'
    default:
      return reasonOfStop(cause)
  }
}

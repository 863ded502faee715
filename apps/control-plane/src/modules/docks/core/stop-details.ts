/** What the record of a stop keeps beside its cause, for those who ask why the Dock does not run. */
import type { HeldWhy } from '../boot/recovery.ts'

export type StopDetails = {
  /** Public sentence of the error with which the operation ended. */
  error?: string
  /** Why a Dock whose runtime ended is not booted again. */
  held?: HeldWhy
  /** How the stop left the disk: `nothing_saved` after a stop by force, `wiped` with zero data retention. */
  disk?: 'nothing_saved' | 'wiped'
}

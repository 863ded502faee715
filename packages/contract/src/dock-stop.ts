/** Why a Dock does not run. The reasons are stable, and every way in which a Dock comes to a stop has one. */

export const dockStopReasons = [
  /** A person, or a program with an API key, stopped it. */
  'requested',
  /** The same by force: what the latest Snapshot does not have is lost. */
  'forced',
  /** `ttlSeconds` ran out. */
  'ttl',
  /** The account of its creator, or of the only member of its organization, was closed. */
  'account_closed',
  /** The GitHub Run that it was made for is over. */
  'run_ended',
  /** An operator adopted its disk from quarantine; it has not run since. */
  'adopted',
  /** It was stopped already, and a resume failed. */
  'resume_failed',
  /** A create, or a branch, failed. */
  'start_failed',
  /** It ended more than three times within ten minutes, and ran out of memory in that time. */
  'out_of_memory',
  /** It ended more than three times within ten minutes. */
  'ended_too_often',
  /** It ended, and could not be booted again. */
  'recovery_failed',
  /** Its host no longer has its disk. */
  'disk_lost',
  /** A stop could not save its disk. */
  'capture_failed',
  /** Its host does not respond. */
  'host_silent',
] as const

export type DockStopReason = (typeof dockStopReasons)[number]

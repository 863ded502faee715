/** Data of a recovery, stored in its operation's row. */

/** Why a Dock is no longer restarted. */
export type HeldWhy = 'died_too_often' | 'would_not_start' | 'disk_gone'

export type Recovery = {
  /** True if the runtime ended unexpectedly, so that an alert is sent. */
  died: boolean
  /** The Dock's name, for the alert. */
  name: string
  /** Set if the recovery has failed for good. */
  held?: HeldWhy
}

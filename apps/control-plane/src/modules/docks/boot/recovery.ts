/** What a boot after a loss carries with it in its operation's row. */

/** Why a Dock is not started again any more. */
export type HeldWhy = 'died_too_often' | 'would_not_start' | 'disk_gone'

export type Recovery = {
  /** Unexpectedly, so that people are told. */
  died: boolean
  /** The Dock's name, for what they are told. */
  name: string
  /** Set once the boot is given up. */
  held?: HeldWhy
}

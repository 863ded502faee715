/** What a recovery keeps in its operation's row. */
import * as z from 'zod'

/** Why a Dock is no longer restarted. */
const heldWhy = z.enum(['died_too_often', 'would_not_start', 'disk_gone'])
export type HeldWhy = z.infer<typeof heldWhy>

export const recovery = z.strictObject({
  /** True if the runtime ended unexpectedly, so that an alert is sent. */
  died: z.boolean(),
  /** The Dock's name, for the alert. */
  name: z.string(),
  /** Set if the recovery has failed for good. */
  held: heldWhy.optional(),
})
export type Recovery = z.infer<typeof recovery>

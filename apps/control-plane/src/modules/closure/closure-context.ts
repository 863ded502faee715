/** What closing, reopening and erasing work with; made once by the composition. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Sealer } from '../../sealing/index.ts'

export type ClosureContext = {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  /** Stops were ordered. */
  wakeStops(): void
  /** Organizations were deleted. */
  wakeRemoval(): void
  /** Destroys what files hold of a person: mails with these ids, and what the first start wrote. */
  forgetFiles(person: { email: string; mailIds: readonly string[] }): Promise<void>
}

/** Dependencies of closing, reopening and erasing accounts. The composition creates them once. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Sealer } from '../../sealing/index.ts'

export type ClosureContext = {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  /** Call after stops of Docks were ordered. */
  wakeStops(): void
  /** Call after organizations were marked as deleted. */
  wakeRemoval(): void
  /** Deletes files with data of a person: the mails with these ids, and `admin.json` of the first start if it is theirs. */
  forgetFiles(person: { email: string; mailIds: readonly string[] }): Promise<void>
}

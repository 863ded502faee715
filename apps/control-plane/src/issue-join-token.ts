/** Prints a join token for one more host, directly from the database. Run by script/host-token; needs no server. */
import { systemClock } from '@dock/foundation'
import { createEnrolment } from './modules/hosts/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const isForBuilder = process.argv[2] === '--builder'
await runOnDatabase('host-token', (db) =>
  createEnrolment({ db, clock: systemClock }).issueJoinToken({ isForBuilder }),
)

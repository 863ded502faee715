/** Declares a host lost, straight in the database: run by script/declare-lost. A server that runs goes on with it. */
import { systemClock } from '@dock/foundation'
import { declareLost } from './modules/docks/index.ts'
import { runOnDatabase } from './run-on-database.ts'

await runOnDatabase('declare-lost', async (db) => {
  const { hostId, docks, failedSnapshots } = await declareLost(
    { db, clock: systemClock },
    process.argv[2] ?? '',
  )
  return `Host ${hostId} is declared lost. ${docks} Docks were on it; ${failedSnapshots} Snapshots had no copy and read failed now.`
})

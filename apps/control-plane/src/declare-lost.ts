/**
 * Declares a host lost, directly in the database. Run by script/declare-lost. A running server picks the change up.
 */
import { systemClock } from '@dock/foundation'
import { declareLost } from './modules/docks/index.ts'
import { runOnDatabase } from './run-on-database.ts'

await runOnDatabase('declare-lost', async (db) => {
  const { hostId, docks, failedSnapshots } = await declareLost(
    { db, clock: systemClock },
    process.argv[2] ?? '',
  )
  return `Host ${hostId} is declared lost. ${docks} Docks were on it; ${failedSnapshots} Snapshots had no copy and are now failed.`
})

/** Shows or sets the limits of one organization, directly in the database. Run by script/limits; needs no server. */
import { setLimits } from './modules/limits/index.ts'
import { runOnDatabase } from './run-on-database.ts'

const [organization = '', ...changes] = process.argv.slice(2)
await runOnDatabase('limits', (db) => setLimits(db, organization, changes))

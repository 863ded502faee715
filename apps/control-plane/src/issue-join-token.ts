/** Prints a join token for one more host, straight from the database: run by script/host-token, needs no server. */
import { systemClock } from '@dock/foundation'
import { openDatabase } from './database/database.ts'
import { createEnrolment } from './modules/hosts/index.ts'

const run = async (): Promise<void> => {
  const url = process.env['DATABASE_URL']
  if (!url) throw new Error('DATABASE_URL must name the database of the control plane.')
  const database = openDatabase({ url, maxConnections: 1 })
  try {
    const token = await createEnrolment({ db: database.db, clock: systemClock }).issueJoinToken()
    process.stdout.write(`${token}\n`)
  } finally {
    await database.close()
  }
}

run().catch((error: unknown) => {
  const { code, message } = error as { code?: string; message: string }
  const sentence =
    code === 'ENOENT' || code === 'ECONNREFUSED' ? 'Dock is not running on this data folder.' : message
  process.stderr.write(`host-token: ${sentence}\n`)
  process.exitCode = 1
})

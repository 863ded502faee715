import type { Work } from './verb.ts'

/**
 * Prints the result of `work` to stdout. If it fails, prints `name` and the reason to stderr and sets exit code 1.
 */
export async function runOnDatabase(name: string, work: Work): Promise<void> {
  try {
    const url = process.env['DATABASE_URL']
    if (!url) throw new Error('Set DATABASE_URL to the URL of the control plane’s database.')
    const { openDatabase } = await import('../database/database.ts')
    const database = openDatabase({ url, maxConnections: 2 })
    try {
      process.stdout.write(`${await work(database.db)}\n`)
    } finally {
      await database.close()
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const sentence =
      code === 'ENOENT' || code === 'ECONNREFUSED'
        ? 'Cannot reach the database. Start Dock on this data folder, then try again.'
        : message
    process.stderr.write(`${name}: ${sentence}\n`)
    process.exitCode = 1
  }
}

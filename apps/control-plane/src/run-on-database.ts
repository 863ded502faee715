/** What the programs have in common that work straight on the control plane's database and need no server. */
import { type Db, openDatabase } from './database/database.ts'

/** Prints what `work` answers, or why it failed, in the program's name; ends with exit code 1 then. */
export async function runOnDatabase(name: string, work: (db: Db) => Promise<string>): Promise<void> {
  try {
    const url = process.env['DATABASE_URL']
    if (!url) throw new Error('DATABASE_URL must name the database of the control plane.')
    const database = openDatabase({ url, maxConnections: 2 })
    try {
      process.stdout.write(`${await work(database.db)}\n`)
    } finally {
      await database.close()
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const sentence =
      code === 'ENOENT' || code === 'ECONNREFUSED' ? 'Dock is not running on this data folder.' : message
    process.stderr.write(`${name}: ${sentence}\n`)
    process.exitCode = 1
  }
}

/** One verb of script/admin. Each has a file of its own, which loads what the verb needs only when the verb runs. */
import type { Db } from '../database/database.ts'

/** Returns what is printed to stdout. An error is printed to stderr instead. */
export type Work = (db: Db) => Promise<string>

export type Verb = {
  /** The words after the verb's name. Empty: there are none. */
  usage: string
  /** One line of the list of verbs. */
  summary: string
  /** Returns the work that the words ask for, or undefined if they do not fit `usage`. */
  read(words: readonly string[]): Work | undefined
}

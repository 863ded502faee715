/** Refuses arguments whose bytes Node did not keep. */
import { isUtf8 } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import { UsageError } from './failures.ts'

/**
 * Throws if an argument is not UTF-8. Node replaces such bytes by U+FFFD, so a command would read or write another file
 * than the one that was named.
 */
export async function refuseLostBytes(words: readonly string[]): Promise<void> {
  const word = words.find((each) => each.includes('\ufffd'))
  if (word === undefined) return
  const line = await readFile('/proc/self/cmdline').catch(() => undefined)
  if (!line || isUtf8(line)) return
  throw new UsageError(
    `The argument ${word} is not UTF-8, so this program cannot name that file. dock cp copies the folder that contains it, with the exact name.`,
  )
}

/** Entries of files as the programs in Docks write them. */
import { type FileEntry, fileTypes, nameOfBytes } from '@dock/contract'
import { brokenProgram } from './file-failure.ts'

const hexadecimal = /^([0-9a-f]{2})+$/

/** Returns the name that is written in hexadecimal. Throws if it is not. */
export function parseName(word: string | undefined): string {
  if (word === undefined || !hexadecimal.test(word)) throw brokenProgram('a name is not hexadecimal')
  return nameOfBytes(Buffer.from(word, 'hex'))
}

const secondsMax = 253_402_300_799

/** Returns the time in ISO 8601. Times that it cannot express become the nearest that it can. */
export function timeOf(seconds: number): string {
  return new Date(Math.min(Math.max(seconds, 0), secondsMax) * 1000).toISOString()
}

/** Parses `entry TYPE SIZE MODE MTIME NAME TARGET`. */
export function parseEntry(words: readonly string[]): FileEntry {
  const [word, type, size, mode, mtime, name, target] = words
  const known = fileTypes.find((each) => each === type)
  const [bytes, seconds] = [Number(size), Number(mtime)]
  if (
    word !== 'entry' ||
    !known ||
    !Number.isSafeInteger(bytes) ||
    bytes < 0 ||
    !Number.isSafeInteger(seconds) ||
    !/^[0-7]{4}$/.test(mode ?? '')
  )
    throw brokenProgram(`not an entry: ${words.join(' ').slice(0, 200)}`)
  return {
    name: parseName(name),
    type: known,
    size: bytes,
    mode: mode!,
    modifiedAt: timeOf(seconds),
    target: known === 'link' ? parseName(target) : null,
  }
}

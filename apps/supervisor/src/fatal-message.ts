/** Finds the reason of a program's end in its log. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const tailBytes = 64 * 1024
const messageCharsMax = 500
/** The level of pino's fatal lines. */
const fatalLevel = 60

const readTail = (path: string): string => {
  const descriptor = openSync(path, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const length = Math.min(size, tailBytes)
    const bytes = Buffer.alloc(length)
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, length, size - length))
  } finally {
    closeSync(descriptor)
  }
}

const messageOf = (line: string, since: number): string | undefined => {
  try {
    const { level, time, err } = JSON.parse(line) as {
      level?: unknown
      time?: unknown
      err?: { message?: unknown }
    }
    if (level !== fatalLevel || typeof time !== 'number' || time < since) return undefined
    return typeof err?.message === 'string' ? err.message : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the message of the last fatal line of a log since a time (epoch ms), or undefined if there is none. The log's
 * writer is not trusted: the message has no control characters and at most 500 characters.
 */
export function lastFatalMessage(path: string, since: number): string | undefined {
  let tail: string
  try {
    tail = readTail(path)
  } catch {
    return undefined
  }
  const message = tail
    .split('\n')
    .map((line) => messageOf(line, since))
    .findLast((each) => each !== undefined)
  return message?.replaceAll(/[^\P{C}]+/gu, ' ').slice(0, messageCharsMax)
}

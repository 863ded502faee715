/**
 * Keeps logs of running processes from growing without end. The processes append to descriptors that they were given, so
 * a log is copied aside and then emptied; what is written between the two, some microseconds, is lost.
 */
import {
  closeSync,
  copyFileSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'

const periodMs = 1_000

const pieceBytes = 64 * 1024
/** Against a process that writes as fast as this one reads. */
const piecesMax = 256

/** Appends what came to the log after it was copied. */
const catchUp = (log: number, copy: number): void => {
  const rest = Buffer.alloc(pieceBytes)
  let at = fstatSync(copy).size
  for (let piece = 0; piece < piecesMax; piece++) {
    const bytes = readSync(log, rest, 0, rest.length, at)
    if (bytes === 0) return
    at += writeSync(copy, rest, 0, bytes)
  }
}

/** Empties the log into `<path>.1`, in place of what was there, if it takes more than half of `bytesMax`. */
export function rotateLog(path: string, bytesMax: number): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= bytesMax / 2) return
  const older = `${path}.1`
  rmSync(older, { force: true })
  const log = openSync(path, 'r+')
  try {
    try {
      copyFileSync(path, older)
      const copy = openSync(older, 'a')
      try {
        catchUp(log, copy)
      } finally {
        closeSync(copy)
      }
    } catch {
      // The disk is full: room is worth more than the older part.
      rmSync(older, { force: true })
    }
    ftruncateSync(log)
  } finally {
    closeSync(log)
  }
}

/**
 * Looks after the logs until the returned function is called. One takes at most `bytesMax` on disk, its older part
 * included, beside what is written in a second. Failures are told to `report`, once for each log.
 */
export function rotateLogs(
  paths: readonly string[],
  bytesMax: number,
  report: (text: string) => void,
): () => void {
  const told = new Set<string>()
  const look = (): void => {
    for (const path of paths) {
      try {
        rotateLog(path, bytesMax)
      } catch (error) {
        if (!told.has(path)) report(`The log ${path} cannot be rotated: ${String(error)}`)
        told.add(path)
      }
    }
  }
  look()
  const timer = setInterval(look, periodMs).unref()
  return () => clearInterval(timer)
}

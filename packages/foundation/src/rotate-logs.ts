/**
 * Bounds the size of the logs of running processes. The processes hold open descriptors in append mode, so a log is
 * copied and then truncated. Lines written in the microseconds between copy and truncation are lost.
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
/** Bounds the catch-up with a process that writes as fast as this one reads. */
const piecesMax = 256

/** Appends to the copy what was written to the log after it was copied. */
const catchUp = (log: number, copy: number): void => {
  const rest = Buffer.alloc(pieceBytes)
  let at = fstatSync(copy).size
  for (let piece = 0; piece < piecesMax; piece++) {
    const bytes = readSync(log, rest, 0, rest.length, at)
    if (bytes === 0) return
    at += writeSync(copy, rest, 0, bytes)
  }
}

/** Moves the content of the log to `<path>.1`, replacing that file, if the log exceeds half of `bytesMax`. */
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
      // The disk is full: freeing space matters more than keeping old lines.
      rmSync(older, { force: true })
    }
    ftruncateSync(log)
  } finally {
    closeSync(log)
  }
}

/**
 * Checks the logs every second until the returned function is called. A log and its `.1` file together take at most
 * `bytesMax` on disk, plus what is written within a second. Calls `report` at the first failure of each log.
 */
export function rotateLogs(
  paths: readonly string[],
  bytesMax: number,
  report: (text: string) => void,
): () => void {
  const reported = new Set<string>()
  const rotateAll = (): void => {
    for (const path of paths) {
      try {
        rotateLog(path, bytesMax)
      } catch (error) {
        if (!reported.has(path)) report(`The log ${path} cannot be rotated: ${String(error)}`)
        reported.add(path)
      }
    }
  }
  rotateAll()
  const timer = setInterval(rotateAll, periodMs).unref()
  return () => clearInterval(timer)
}

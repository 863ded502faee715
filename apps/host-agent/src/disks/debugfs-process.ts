/** Runs debugfs on a disk, confined, and reads names from its output. */
import { isUtf8 } from 'node:buffer'
import type { ChildProcessByStdio } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { confinementFailed } from './confinement/launcher.ts'
import { confinedFile, spawnConfined } from './confinement/spawn-confined.ts'

/** How long debugfs may take for the next piece of output. */
export const deadlineMs = 60_000

/** Separates the answers of debugfs: the output of this command contains a slash, which no file name can contain. */
export const mark = 'params'
export const markOpen = `Filesystem in use: ${confinedFile}`

/** Its time is limited by its output. The processor time is enough to print a file of 2 TiB. */
const limits = { memoryBytes: 2 * 2 ** 30, cpuSeconds: 7_200, fileBytes: 0 }

/** Starts debugfs on the disk. Its host's kernel never opens a path of the disk. */
export function startDebugfs(
  disk: FileHandle,
  args: readonly string[],
  timeout?: number,
): ChildProcessByStdio<Writable, Readable, null> {
  // `-c` skips reading the bitmaps: only names, inodes and blocks are needed.
  const child = spawnConfined(['debugfs', '-c', ...args, confinedFile], {
    ...{ fd: disk.fd, limits, stdio: ['pipe', 'pipe', 'ignore'], timeoutMs: timeout },
    env: { DEBUGFS_PAGER: '', SS_READLINE_PATH: 'none' },
  }) as ChildProcessByStdio<Writable, Readable, null>
  // Its reader may begin to listen later.
  child.on('error', () => undefined)
  if (!child.stdin) throw new Error('debugfs could not be started')
  child.stdin.on('error', () => undefined)
  return child
}

/**
 * Longest line of debugfs output that is kept, in characters; longer ones are cut. Only the list of a file's blocks can be so
 * long, and a tenant can make one of hundreds of megabytes.
 */
export const lineLengthMax: number = 2 ** 20

/** Joins pieces of text to lines, each character only once. */
class LineJoiner {
  #pieces: string[] = []
  #length = 0

  /** Returns the lines that the piece completes. */
  push(text: string): string[] {
    const [first = '', ...others] = text.split('\n')
    this.#keep(first)
    return others.map((piece) => {
      const line = this.#pieces.join('')
      this.#pieces = []
      this.#length = 0
      this.#keep(piece)
      return line
    })
  }

  #keep(piece: string): void {
    const kept = piece.slice(0, lineLengthMax - this.#length)
    if (kept === '') return
    this.#pieces.push(kept)
    this.#length += kept.length
  }
}

/** Yields complete lines of debugfs output in batches while its input is open. Throws if debugfs fails or is killed. */
export function linesOf(child: ReturnType<typeof startDebugfs>): AsyncGenerator<string[]> {
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === confinementFailed) reject(new Error('debugfs could not be confined on this machine'))
      else resolve(signal)
    })
  })
  ended.catch(() => undefined)
  return readLinesUntil(ended, child)
}

async function* readLinesUntil(
  ended: Promise<NodeJS.Signals | null>,
  child: ReturnType<typeof startDebugfs>,
): AsyncGenerator<string[]> {
  // The timeout applies to each piece of output, not to the whole listing.
  const deadline = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  child.stdout.setEncoding('latin1')
  const joiner = new LineJoiner()
  try {
    for await (const text of child.stdout as AsyncIterable<string>) {
      yield joiner.push(text)
      deadline.refresh()
    }
    const signal = await ended
    if (signal) throw new Error(`debugfs was killed by ${signal}`)
  } finally {
    clearTimeout(deadline)
    child.kill('SIGKILL')
  }
}

/** Decodes a file name. Bytes that are not UTF-8 become `%XX`. */
export function decodeName(latin1: string): string {
  if (/^[\0-\x7f]*$/.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, 'latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(
      (count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)),
    )
    text += length
      ? bytes.toString('utf8', at, at + length)
      : `%${bytes.toString('hex', at, at + 1).toUpperCase()}`
    at += length ?? 1
  }
  return text
}

/** Encodes a path in which `%XX` stands for one byte, as `decodeName` writes names that are not UTF-8. */
export function encodePath(path: string): Buffer {
  return Buffer.concat(
    path
      .split(/(%[0-9A-F]{2})/)
      .map((part) => (/^%[0-9A-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  )
}

/**
 * Compares two files of two disks by their bytes. Blocks that both disks share on the pool are not read: they are the
 * same bytes.
 */
import { spawn } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import { splitLines } from '@dock/host-protocol'
import { lineLengthMax } from './debugfs-process.ts'
import type { DebugfsSession } from './debugfs-session.ts'

/** A run of blocks of a file. `at` is null for a hole, and for blocks that were never written. */
type Run = { first: number; count: number; at: number | null }

const piecesBytes = 256 * 1024
/** A disk with more parts than this is read instead. */
const partsMax = 100_000
const partLineBytesMax = 4096
const partsTimeoutMs = 60_000

/**
 * Returns the sixty bytes of the inode that say where its blocks are, or hold the target of a short link or the number of a
 * device, as lines in hexadecimal.
 */
export async function readInodeBytes(session: DebugfsSession, inode: string): Promise<string> {
  const lines: string[] = []
  await session.ask(`inode_dump -b <${inode}>`, (line) => lines.push(line))
  // The first line follows the prompt.
  return lines
    .map((line) => line.replace(/^(debugfs: +)+/, ''))
    .filter((line) => /^[0-9a-f]{4} |^\*/.test(line))
    .join('\n')
}

/**
 * Returns where the bytes of a regular file or a long link are. Returns null if the file is in so many pieces that the list
 * of its blocks has `listLengthMax` characters or more.
 */
export async function readRuns(
  session: DebugfsSession,
  inode: string,
  listLengthMax = lineLengthMax,
): Promise<Run[] | null> {
  const lines: string[] = []
  await session.ask(`stat <${inode}>`, (line) => lines.push(line))
  if (lines.some(({ length }) => length >= listLengthMax)) return null
  const text = lines.join('\n')
  const places = /\n(?:EXTENTS|BLOCKS):\n?([\s\S]*)$/.exec(text)?.[1]
  if (places === undefined) throw new Error(`inode ${inode} of a capture has no list of blocks`)
  const runs: Run[] = []
  for (const [, first, last, flag, at] of places.matchAll(/\((\d+)(?:-(\d+))?(\[u\])?\):(\d+)/g)) {
    const count = last === undefined ? 1 : Number(last) - Number(first) + 1
    runs.push({ first: Number(first), count, at: flag ? null : Number(at) })
  }
  return runs.sort((one, other) => one.first - other.first)
}

/** Returns where block `block` is, and how many blocks follow it in the same run or hole. */
const placeOf = (runs: readonly Run[], block: number): { at: number | null; count: number } => {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (runs[middle]!.first <= block) low = middle + 1
    else high = middle
  }
  const run = runs[low - 1]
  const next = runs[low]
  if (run && block < run.first + run.count) {
    const into = block - run.first
    return { at: run.at === null ? null : run.at + into, count: run.count - into }
  }
  return { at: null, count: next ? next.first - block : Number.MAX_SAFE_INTEGER }
}

/** Parts of two disk files that are the same blocks of the pool, in bytes, ascending. */
export type SharedParts = readonly { from: number; to: number }[]

type Part = { from: number; to: number; at: number }

const partsOf = async (path: string): Promise<Part[]> => {
  const child = spawn('filefrag', ['-v', '-b1', path], {
    stdio: ['ignore', 'pipe', 'ignore'],
    ...{ timeout: partsTimeoutMs, killSignal: 'SIGKILL' },
  })
  const parts: Part[] = []
  try {
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    ended.catch(() => undefined)
    for await (const lines of splitLines(child.stdout, partLineBytesMax))
      for (const line of lines) {
        const found = /^\s*\d+:\s*(\d+)\.\.\s*(\d+):\s*(\d+)\.\.\s*\d+:\s*\d+:(?:\s*\d+:)?\s*(\S*)/.exec(line)
        // Flags such as `encoded` mean that equal places need not be equal bytes.
        if (!found || !/^((last|shared|eof|merged)(,|$))*$/.test(found[4]!)) continue
        if (parts.push({ from: Number(found[1]), to: Number(found[2]) + 1, at: Number(found[3]) }) > partsMax)
          return []
      }
    return (await ended) === 0 ? parts : []
  } finally {
    child.kill('SIGKILL')
  }
}

/** Returns the parts that both files share on a pool that clones. None if the filesystem does not say. */
export async function findSharedParts(one: string, other: string): Promise<SharedParts> {
  const [left, right] = await Promise.all([one, other].map((each) => partsOf(each).catch(() => [])))
  const shared: { from: number; to: number }[] = []
  let at = 0
  for (const part of left!) {
    while (at < right!.length && right![at]!.to <= part.from) at++
    for (let index = at; index < right!.length && right![index]!.from < part.to; index++) {
      const mate = right![index]!
      if (mate.at - mate.from !== part.at - part.from) continue
      const [from, to] = [Math.max(part.from, mate.from), Math.min(part.to, mate.to)]
      const last = shared.at(-1)
      if (last && last.to === from) last.to = to
      else shared.push({ from, to })
    }
  }
  return shared
}

const isShared = (parts: SharedParts, from: number, to: number): boolean => {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (parts[middle]!.from <= from) low = middle + 1
    else high = middle
  }
  return (parts[low - 1]?.to ?? 0) >= to
}

export type ComparedDisks = { disks: readonly FileHandle[]; blockBytes: number; shared: SharedParts }

const readAt = async (disk: FileHandle, at: number | null, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length)
  if (at === null) return bytes
  const { bytesRead } = await disk.read(bytes, 0, length, at)
  if (bytesRead !== length) throw new Error('a block of a capture is outside of its disk')
  return bytes
}

/**
 * Compares the first `size` bytes of two files, from block `from` on, until they differ or `mayGoOn` returns false. Then
 * `next` is the block to go on with.
 */
export async function compareBlocks(
  { disks, blockBytes, shared }: ComparedDisks,
  inodes: readonly [readonly Run[], readonly Run[]],
  { size, from, mayGoOn }: { size: number; from: number; mayGoOn: (bytes: number) => boolean },
): Promise<{ equal: boolean } | { next: number }> {
  const blocks = Math.ceil(size / blockBytes)
  let block = from
  while (block < blocks) {
    const places = inodes.map((runs) => placeOf(runs, block))
    const [one, other] = [places[0]!, places[1]!]
    const most = Math.min(one.count, other.count, blocks - block)
    const isSame = one.at === other.at
    const bytes = most * blockBytes
    const skips =
      (one.at === null && other.at === null) ||
      (isSame && isShared(shared, one.at! * blockBytes, one.at! * blockBytes + bytes))
    if (skips) {
      block += most
      continue
    }
    const count = Math.min(most, piecesBytes / blockBytes)
    const length = Math.min(count * blockBytes, size - block * blockBytes)
    const read = (index: number, at: number | null) =>
      readAt(disks[index]!, at === null ? null : at * blockBytes, length)
    const [left, right] = await Promise.all([read(0, one.at), read(1, other.at)])
    if (!left!.equals(right!)) return { equal: false }
    block += count
    if (!mayGoOn(2 * length) && block < blocks) return { next: block }
  }
  return { equal: true }
}

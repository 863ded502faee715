/**
 * Compares the files of two captures exactly: by type, mode, owner and every byte. Goes through both trees in one order, a
 * bounded amount of work at a time, and continues where the last part ended.
 */
import type { DiskChange, DiskComparison } from '@dock/host-protocol'
import * as z from 'zod'
import { decodeName } from './debugfs-process.ts'
import type { DebugfsSession } from './debugfs-session.ts'
import { type RawEntry, readFolderPage, withDebugfs } from './disk-folder.ts'
import {
  type ComparedDisks,
  compareBlocks,
  findSharedParts,
  readInodeBytes,
  readRuns,
} from './file-blocks.ts'
import type { Place } from './pool.ts'

/** Names that are in memory of each folder on the way down. */
const namesAtOnce = 2_000
const pathBytesMax = 4_096
const rootInode = '2'
/** A target of this length or more is in a block. */
const shortLinkMax = 60

const place = z.strictObject({
  names: z.array(z.string().max(255)).min(1).max(2_048),
  block: z.int().min(0).optional(),
})

const writePlace = (at: Place): string => Buffer.from(JSON.stringify(at)).toString('base64url')

/** Returns null if the text is not a place that {@link compareDisks} returned. */
export function readPlace(text: string): Place | null {
  try {
    return place.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return null
  }
}

/** The work of one request. A page of changes comes in a few seconds, on a slow disk too. */
export const comparisonLimits: WorkLimits = { changesMax: 500, milliseconds: 2_000, bytesMax: 512 * 2 ** 20 }

export type WorkLimits = {
  changesMax: number
  milliseconds: number
  bytesMax: number
  /** Characters of the list of a file's blocks. Files with a longer list are left out. */
  blockListMax?: number
}

/** Thrown to leave the walk when its part of the work is done. */
class Enough extends Error {
  readonly at: Place
  constructor(at: Place) {
    super('enough')
    this.at = at
  }
}

type Pair = [RawEntry | null, RawEntry | null]

/**
 * Yields the names of two folders from `first` on in one order, each with what is there on either side. An inode is null
 * if there is no such folder.
 */
async function* pairsOf(
  sessions: readonly DebugfsSession[],
  inodes: readonly [string | null, string | null],
  first: string | null,
  notice: { hasUnlisted: boolean },
): AsyncGenerator<Pair> {
  type Side = { entries: RawEntry[]; last: string | null; hasMore: boolean }
  const sides: Side[] = inodes.map((inode) => ({ entries: [], last: null, hasMore: inode !== null }))
  const fill = async (index: number): Promise<void> => {
    const side = sides[index]!
    if (side.entries.length > 0 || !side.hasMore) return
    const wanted =
      side.last === null ? { first, limit: namesAtOnce } : { after: side.last, limit: namesAtOnce }
    const page = await readFolderPage(sessions[index]!, `<${inodes[index]}>`, wanted)
    side.entries = page.entries
    side.last = page.entries.at(-1)?.name ?? side.last
    side.hasMore = page.hasMore
    notice.hasUnlisted ||= page.hasUnlisted
  }
  for (;;) {
    await Promise.all([fill(0), fill(1)])
    const [one, other] = sides.map(({ entries }) => entries[0])
    if (!one && !other) return
    const name = !other || (one && one.name < other.name) ? one!.name : other.name
    yield sides.map(({ entries }) => (entries[0]?.name === name ? entries.shift()! : null)) as Pair
  }
}

const shown = (entry: RawEntry): NonNullable<DiskChange['before']> => {
  const { type, mode, size } = entry
  return { type, mode, size: type === 'file' || type === 'link' ? size : 0 }
}

/** Compares the disks of two captures from a place on. Throws if a disk is damaged. */
export function compareDisks(
  files: readonly [string, string],
  from: Place | null,
  { changesMax, milliseconds, bytesMax, blockListMax }: WorkLimits,
): Promise<DiskComparison> {
  return withDebugfs(files, async (sessions, disks) => {
    const changes: DiskChange[] = []
    const notice = { hasUnlisted: false }
    const deadline = performance.now() + milliseconds
    let visited = 0
    let bytesRead = 0
    let compared: ComparedDisks | undefined

    const openDisks = async (): Promise<ComparedDisks> => {
      const lines: string[] = []
      await sessions[0]!.ask('show_super_stats -h', (line) => lines.push(line))
      const blockBytes = Number(/^Block size:\s+(\d+)$/m.exec(lines.join('\n'))?.[1])
      if (!(blockBytes >= 1024 && blockBytes <= 65_536)) throw new Error('a capture has no size of blocks')
      return { disks, blockBytes, shared: await findSharedParts(files[0], files[1]) }
    }
    const mayGoOn = (bytes: number): boolean => {
      bytesRead += bytes
      return bytesRead < bytesMax && performance.now() < deadline
    }
    const hasSameContents = async (
      pair: [RawEntry, RawEntry],
      names: string[],
      block: number,
    ): Promise<boolean> => {
      const [one, other] = pair
      if (one.type === 'folder' || one.type === 'pipe' || one.type === 'socket') return true
      if (one.size !== other.size) return false
      if (one.size === 0 && one.type === 'file') return true
      const ask = <T>(read: (session: DebugfsSession, inode: string) => Promise<T>): Promise<[T, T]> =>
        Promise.all([read(sessions[0]!, one.inode), read(sessions[1]!, other.inode)])
      // The target of a short link is in its inode. It must not be asked for as text.
      if (one.type === 'device' || (one.type === 'link' && one.size < shortLinkMax)) {
        const [left, right] = await ask(readInodeBytes)
        return left === right
      }
      const [left, right] = await ask((session, inode) => readRuns(session, inode, blockListMax))
      if (!left || !right) {
        notice.hasUnlisted = true
        return true
      }
      compared ??= await openDisks()
      const result = await compareBlocks(compared, [left, right], {
        size: one.size,
        from: block,
        mayGoOn,
      })
      if ('next' in result) throw new Enough({ names, block: result.next })
      return result.equal
    }
    const differencesOf = async (pair: [RawEntry, RawEntry], names: string[], block: number) => {
      const [one, other] = pair
      if (one.type !== other.type) return ['type' as const]
      return [
        ...((await hasSameContents(pair, names, block)) ? [] : ['contents' as const]),
        ...(one.mode === other.mode ? [] : ['mode' as const]),
        ...(one.owner === other.owner ? [] : ['owner' as const]),
      ]
    }
    const decide = async ([one, other]: Pair, names: string[], block: number): Promise<void> => {
      visited++
      const path = `/${names.map(decodeName).join('/')}`
      const entry = { path, before: one && shown(one), after: other && shown(other) }
      if (one && other) {
        const differences = await differencesOf([one, other], names, block)
        if (differences.length > 0) changes.push({ ...entry, differences })
      } else changes.push({ ...entry, differences: [one ? 'removed' : 'added'] })
      const isDone = changes.length >= changesMax || performance.now() >= deadline
      if (isDone) throw new Enough({ names })
    }
    /** `trail`: inodes of the folders above, in which a manipulated disk may contain this one again. */
    const walk = async (
      inodes: [string | null, string | null],
      above: string[],
      resume: Place | null,
      trail: readonly string[],
    ): Promise<void> => {
      const begin = resume?.names[above.length] ?? null
      for await (const pair of pairsOf(sessions, inodes, begin, notice)) {
        const name = (pair[0] ?? pair[1])!.name
        const names = [...above, name]
        const place = name === begin ? resume : null
        const isWithin = place !== null && place.names.length > names.length
        const isDecided = place !== null && place.block === undefined
        if (!isWithin && !isDecided) await decide(pair, names, place?.block ?? 0)
        const folders = pair.map((each) => (each?.type === 'folder' ? each.inode : null)) as typeof inodes
        const key = folders.join('/')
        if (folders.every((each) => each === null) || trail.includes(key)) continue
        if (names.join('/').length < pathBytesMax)
          await walk(folders, names, isWithin ? place : null, [...trail, key])
      }
    }
    const answer = (nextCursor: string | null): DiskComparison => ({
      ...{ changes, nextCursor, visited, bytesRead, hasUnlisted: notice.hasUnlisted },
    })
    try {
      await walk([rootInode, rootInode], [], from, [`${rootInode}/${rootInode}`])
      return answer(null)
    } catch (error) {
      if (!(error instanceof Enough)) throw error
      return answer(writePlace(error.at))
    }
  })
}

/** Searches the memory of a Dock's sandbox, byte by byte: the guest's memory and that of the sandbox processes. */
import { open, readdir, readFile, readlink } from 'node:fs/promises'
import { sandboxProcessesOf } from '../../crash/processes.ts'

const pieceBytes = 8 * 1024 * 1024

/** Words that are searched for, and those that were found. */
type Search = { words: readonly string[]; found: Set<string> }

/** Searches the file between two offsets. Skips parts that cannot be read. */
const searchFile = async (path: string, search: Search, from: number, to: number): Promise<void> => {
  const file = await open(path, 'r').catch(() => null)
  if (!file) return
  const overlap = Math.max(...search.words.map((word) => Buffer.byteLength(word)))
  try {
    const piece = Buffer.alloc(pieceBytes)
    for (let at = from; at < to; at += pieceBytes - overlap) {
      const length = Math.min(pieceBytes, to - at)
      const { bytesRead } = await file.read(piece, 0, length, at).catch(() => ({ bytesRead: 0 }))
      const read = piece.subarray(0, bytesRead)
      for (const word of search.words)
        if (!search.found.has(word) && read.includes(word)) search.found.add(word)
      if (search.found.size === search.words.length) return
    }
  } finally {
    await file.close()
  }
}

const guestMemory = '/memfd:runsc-memory'

const searchProcess = async (pid: number, search: Search): Promise<void> => {
  // The guest's memory is a single memfd that runsc has open. QEMU maps it, so it is found below.
  for (const number of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const path = `/proc/${pid}/fd/${number}`
    if (!(await readlink(path).catch(() => '')).startsWith(guestMemory)) continue
    const file = await open(path, 'r')
    const { size } = await file.stat().finally(() => file.close())
    await searchFile(path, search, 0, size)
  }
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  for (const line of maps.split('\n')) {
    const [, from, to, name = ''] = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? []
    if (!from || !to || name.startsWith(guestMemory) || name === '[vvar]') continue
    const place = [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const
    // The address of the vsyscall page exceeds the range of safe integers.
    if (Number.isSafeInteger(place[1])) await searchFile(`/proc/${pid}/mem`, search, ...place)
  }
}

/** Returns those words that occur anywhere in the memory of the Dock's sandbox. Throws if there is no sandbox. */
export async function wordsInMemory(dockId: string, words: readonly string[]): Promise<Set<string>> {
  const processes = await sandboxProcessesOf(dockId)
  if (processes.length === 0) throw new Error(`no sandbox of Dock ${dockId} is found`)
  const search = { words, found: new Set<string>() }
  for (const pid of processes) if (search.found.size < words.length) await searchProcess(pid, search)
  return search.found
}

/** Returns true if the word occurs anywhere in the memory of the Dock's sandbox. Throws if there is no sandbox. */
export async function memoryHolds(dockId: string, word: string): Promise<boolean> {
  return (await wordsInMemory(dockId, [word])).has(word)
}

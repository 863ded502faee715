/** Searches the memory of a Dock's sandbox, byte by byte: what its processes hold, and what the sandbox holds for them. */
import { open, readdir, readFile, readlink } from 'node:fs/promises'

const pieceBytes = 8 * 1024 * 1024

/** The processes of the Dock's sandbox: their arguments name the Dock, without its dashes. */
const processesOf = async (dockId: string): Promise<string[]> => {
  const found: string[] = []
  const id = dockId.replaceAll('-', '')
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue
    const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')
    if (line.includes(id) && line.includes('runsc')) found.push(pid)
  }
  return found
}

/** Whether the word stands in the file between two places. What cannot be read holds nothing. */
const fileHolds = async (path: string, word: Buffer, from: number, to: number): Promise<boolean> => {
  const file = await open(path, 'r').catch(() => null)
  if (!file) return false
  try {
    const piece = Buffer.alloc(pieceBytes)
    for (let at = from; at < to; at += pieceBytes - word.length) {
      const length = Math.min(pieceBytes, to - at)
      const { bytesRead } = await file.read(piece, 0, length, at).catch(() => ({ bytesRead: 0 }))
      if (piece.subarray(0, bytesRead).includes(word)) return true
    }
    return false
  } finally {
    await file.close()
  }
}

const guestMemory = '/memfd:runsc-memory'

const processHolds = async (pid: string, word: Buffer): Promise<boolean> => {
  // The guest's memory is one file that is open in its sandbox, however it is mapped.
  for (const number of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const path = `/proc/${pid}/fd/${number}`
    if (!(await readlink(path).catch(() => '')).startsWith(guestMemory)) continue
    const file = await open(path, 'r')
    const { size } = await file.stat().finally(() => file.close())
    if (await fileHolds(path, word, 0, size)) return true
  }
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  for (const line of maps.split('\n')) {
    const [, from, to, name = ''] = /^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? []
    if (!from || !to || name.startsWith(guestMemory) || name === '[vvar]') continue
    const place = [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const
    // Addresses of the kernel's own page are beyond what a number can tell.
    if (Number.isSafeInteger(place[1]) && (await fileHolds(`/proc/${pid}/mem`, word, ...place))) return true
  }
  return false
}

/** Whether the word stands anywhere in the memory of the Dock's sandbox. Throws when there is none. */
export async function memoryHolds(dockId: string, word: string): Promise<boolean> {
  const processes = await processesOf(dockId)
  if (processes.length === 0) throw new Error(`no sandbox of Dock ${dockId} is found`)
  for (const pid of processes) if (await processHolds(pid, Buffer.from(word))) return true
  return false
}

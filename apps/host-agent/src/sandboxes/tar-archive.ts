/** Writes tar archives: the POSIX ustar format, with GNU entries for names of more than 100 bytes. */
import type { Entry } from '../disks/pool.ts'

const blockBytes = 512
const nameBytesMax = 100
const kinds = { file: '0', folder: '5', longName: 'L' }
const checksumAt = 148

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`

const padded = (contents: Buffer): Buffer =>
  Buffer.concat([contents, Buffer.alloc(-contents.length & (blockBytes - 1))])

type Header = Omit<Entry, 'path' | 'contents'> & { name: Buffer; size: number; kind: string }

const header = ({ name, mode, uid, gid, size, kind }: Header): Buffer => {
  const block = Buffer.alloc(blockBytes)
  name.copy(block, 0, 0, nameBytesMax)
  const modified = 0
  const fields = [octal(mode, 7), octal(uid, 7), octal(gid, 7), octal(size, 11), octal(modified, 11)]
  block.write(`${fields.join('')}        ${kind}`, nameBytesMax, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)} `, checksumAt, 'latin1')
  return block
}

const entryBlocks = ({ path, contents, ...owner }: Entry): Buffer[] => {
  const name = Buffer.from(path)
  const kind = contents ? kinds.file : kinds.folder
  const own = [
    header({ ...owner, name, size: contents?.length ?? 0, kind }),
    padded(contents ?? Buffer.alloc(0)),
  ]
  if (name.length <= nameBytesMax) return own
  const ended = Buffer.from(`${path}\0`)
  const longName = { ...owner, name: Buffer.from('././@LongLink'), size: ended.length, kind: kinds.longName }
  return [header(longName), padded(ended), ...own]
}

export function tarArchive(entries: readonly Entry[]): Buffer {
  return Buffer.concat([...entries.flatMap(entryBlocks), Buffer.alloc(2 * blockBytes)])
}

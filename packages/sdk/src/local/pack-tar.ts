/** Packs a folder of this computer as tar. Links are packed as links and never followed. */
import { Buffer } from 'node:buffer'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { LocalFileError } from '../dock-error.ts'

const blockBytes = 512
const chunkBytes = 256 * 1024

/** `time` is in seconds. */
type Header = { name: Buffer; type: string; size: number; mode: number; time: number; target?: Buffer }

const octal = (value: number, length: number): Buffer => {
  const text = Math.max(0, Math.floor(value)).toString(8)
  if (text.length < length) return Buffer.from(`${text.padStart(length - 1, '0')}\0`, 'latin1')
  const bytes = Buffer.alloc(length)
  bytes.writeBigUInt64BE(BigInt(Math.floor(value)), length - 8)
  bytes[0] = 0x80
  return bytes
}

/** Returns what fills the last block behind so many bytes. */
const padding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

const headerBlock = ({ name, type, size, mode, time, target }: Header): Buffer => {
  const block = Buffer.alloc(blockBytes)
  name.copy(block, 0, 0, 100)
  octal(mode, 8).copy(block, 100)
  octal(0, 8).copy(block, 108)
  octal(0, 8).copy(block, 116)
  octal(size, 12).copy(block, 124)
  octal(time, 12).copy(block, 136)
  block.fill(' ', 148, 156)
  block.write(type, 156, 'latin1')
  target?.copy(block, 157, 0, 100)
  block.write('ustar  \0', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** Names of more than 100 bytes come before the entry, as GNU tar writes them. */
const longName = (type: 'L' | 'K', bytes: Buffer): Buffer[] =>
  bytes.length <= 100
    ? []
    : [
        headerBlock({
          name: Buffer.from('././@LongLink'),
          type,
          mode: 0,
          time: 0,
          size: bytes.length + 1,
        }),
        bytes,
        Buffer.alloc(1),
        padding(bytes.length + 1),
      ]

const entryBlocks = (header: Header): Buffer =>
  Buffer.concat([
    ...longName('K', header.target ?? Buffer.alloc(0)),
    ...longName('L', header.name),
    headerBlock(header),
  ])

const slash = Buffer.from('/')

async function* packFile(place: Buffer, header: Omit<Header, 'type' | 'size'>): AsyncGenerator<Uint8Array> {
  const file = await open(place)
  try {
    const { size } = await file.stat()
    yield entryBlocks({ ...header, type: '0', size })
    for (let at = 0; at < size; ) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(chunkBytes, size - at)))
      if (bytesRead === 0) throw new LocalFileError(`${place.toString()} became shorter while it was read.`)
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    yield padding(size)
  } finally {
    await file.close()
  }
}

async function* packEntries(folder: Buffer, prefix: Buffer): AsyncGenerator<Uint8Array> {
  const names = await readdir(folder, { encoding: 'buffer' })
  for (const name of names.sort(Buffer.compare)) {
    const place = Buffer.concat([folder, slash, name])
    const path = Buffer.concat([prefix, name])
    const stats = await lstat(place)
    const header = { name: path, mode: stats.mode & 0o777, time: stats.mtimeMs / 1000 }
    if (stats.isFile()) yield* packFile(place, header)
    else if (stats.isSymbolicLink()) {
      // Deno returns text whatever the encoding.
      const target: Buffer | string = await readlink(place, { encoding: 'buffer' })
      yield entryBlocks({ ...header, type: '2', size: 0, target: Buffer.from(target) })
    } else if (stats.isDirectory()) {
      const inside = Buffer.concat([path, slash])
      yield entryBlocks({ ...header, name: inside, type: '5', size: 0 })
      yield* packEntries(place, inside)
    }
    // Sockets, pipes and devices are left out.
  }
}

/** Yields a tar of what the folder contains; names are relative to it. */
export async function* packTar(folder: string): AsyncGenerator<Uint8Array> {
  yield* packEntries(Buffer.from(folder), Buffer.from('./'))
  yield Buffer.alloc(2 * blockBytes)
}

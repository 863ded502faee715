/**
 * Finds the parts of a sparse file that hold data without reading the holes: lseek(2) with SEEK_DATA. If the system-call
 * library cannot be loaded, every part counts as data, and the reader finds zeros.
 */
import type { FileHandle } from 'node:fs/promises'

const SEEK_DATA = 3
const ENXIO = 6

type Seek = (descriptor: number, offset: number) => Promise<number | null>

let loaded: Promise<Seek | null> | undefined

const loadSeek = async (): Promise<Seek | null> => {
  try {
    const koffi = (await import('koffi')).default
    const lseek = koffi.load('libc.so.6').func('int64 lseek(int fd, int64 offset, int whence)') as {
      async: (...args: unknown[]) => void
    }
    return (descriptor, offset) =>
      new Promise((resolve, reject) =>
        lseek.async(descriptor, offset, SEEK_DATA, (error: Error | null, result: number) => {
          if (error) reject(error)
          else if (Number(result) >= 0) resolve(Number(result))
          else if (koffi.errno() === ENXIO) resolve(null)
          else reject(new Error(`lseek SEEK_DATA: errno ${koffi.errno()}`))
        }),
      )
  } catch {
    return null
  }
}

/** Yields the indexes of the parts of `partBytes` that hold data in a file of `size` bytes, in ascending order. */
export async function* partsWithData(
  file: FileHandle,
  size: number,
  partBytes: number,
): AsyncGenerator<number> {
  loaded ??= loadSeek()
  const seek = await loaded
  const parts = Math.ceil(size / partBytes)
  for (let part = 0; part < parts; part++) {
    if (seek) {
      const at = await seek(file.fd, part * partBytes)
      if (at === null || at >= size) return
      part = Math.floor(at / partBytes)
    }
    yield part
  }
}

/** Copies a file or folder of this computer into a Dock. */
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { LocalFileError } from '../dock-error.ts'
import type { Abortable } from '../request-options.ts'
import { packTar } from './pack-tar.ts'
import type { RemoteFiles } from './remote-files.ts'

const chunkBytes = 256 * 1024

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(chunkBytes))
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** `to` is an absolute path in the Dock. If it ends in a slash, a file goes into that folder. */
export async function uploadLocal(
  files: RemoteFiles,
  from: string,
  to: string,
  { signal }: Abortable,
): Promise<void> {
  const stats = await stat(from).catch(() => null)
  if (stats?.isDirectory()) {
    await files.mkdir(to, { signal })
    await files.writeTar(to, packTar(from), { signal })
    return
  }
  if (!stats?.isFile()) throw new LocalFileError(`${from} is no file or folder.`)
  const mode = (stats.mode & 0o777).toString(8).padStart(3, '0')
  await files.write(to.endsWith('/') ? to + basename(from) : to, bytesOf(from), { mode, signal })
}

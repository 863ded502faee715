/** Writes files atomically: after a crash the old or the new content is there. Temporary file, fsync, rename, fsync. */
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces the file at `path`. The content is on stable storage when the promise resolves. */
export async function writeFileDurably(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  const file = await open(temporary, 'w', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Files that are whole or absent after a crash: temporary file, fsync, rename, fsync of the folder. */
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces `path` with `content`; on return it is on stable storage. Mode 0600 unless said. */
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

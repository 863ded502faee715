/** Copies a file or folder of a Dock to this computer. */
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from '../dock-error.ts'
import type { Abortable } from '../request-options.ts'
import type { RemoteFiles } from './remote-files.ts'
import { unpackTar } from './unpack-tar.ts'

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => null))?.isDirectory() ?? false

/** Writes beside the place and renames, so that nobody sees half of the file. `modeOf` is asked at the end. */
const saveFile = async (
  chunks: AsyncIterable<Uint8Array>,
  place: string,
  modeOf: () => number | undefined,
): Promise<void> => {
  const draft = join(dirname(place), `.dock-download-${randomUUID()}`)
  try {
    const file = await open(draft, 'wx')
    try {
      for await (const bytes of chunks) await file.writeFile(bytes)
      const mode = modeOf()
      if (mode !== undefined) await file.chmod(mode)
    } finally {
      await file.close()
    }
    await rename(draft, place)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Returns the permission bits that the service names. A file of a Dock gets no more than these. */
const modeIn = (headers: Headers): number | undefined => {
  const text = headers.get('x-dock-mode') ?? ''
  return /^[0-7]{1,4}$/.test(text) ? Number.parseInt(text, 8) & 0o777 : undefined
}

/** `from` is an absolute path in the Dock. If `to` is a folder, a file goes into it. */
export async function downloadToLocal(
  files: RemoteFiles,
  from: string,
  to: string,
  options: Abortable,
): Promise<{ skippedLinks: string[] }> {
  try {
    await mkdir(dirname(to), { recursive: true })
    let mode: number | undefined
    const chunks = files.stream(from, {
      ...options,
      onOpen: (headers) => {
        mode = modeIn(headers)
      },
    })
    await saveFile(chunks, (await isFolder(to)) ? join(to, basename(from)) : to, () => mode)
    return { skippedLinks: [] }
  } catch (error) {
    if (!hasCode(error, 'not_a_regular_file')) throw error
    return { skippedLinks: await unpackTar(files.tar(from, options), to) }
  }
}

/** Walks through a folder of this computer. */
import { Buffer } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'

export type LocalEntry = { place: Buffer; entry: Dirent<Buffer> }

/** Yields all that is below the folder. Names are bytes, and links are not followed. */
export async function* localEntries(
  folder: Buffer,
  excluded: readonly string[] = [],
): AsyncGenerator<LocalEntry> {
  for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (excluded.includes(entry.name.toString())) continue
    const place = Buffer.concat([folder, Buffer.from('/'), entry.name])
    yield { place, entry }
    if (entry.isDirectory()) yield* localEntries(place, excluded)
  }
}

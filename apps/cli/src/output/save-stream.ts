/** Saves what a route sends as a file. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

/** Asks before a file is replaced. Throws if it is a link. */
export async function askToReplace(context: Context, target: string): Promise<void> {
  const there = await lstat(target).catch(() => null)
  if (!there) return
  if (there.isSymbolicLink()) throw new LocalError('local_file', `${target} is a link. Remove it first.`)
  await context.confirm(`Replace ${target}?`)
}

/** Writes beside the place and renames, so that a break leaves what was there. */
export async function saveStream(body: ReadableStream<Uint8Array>, target: string): Promise<void> {
  const draft = join(dirname(target), `.dock-download-${randomUUID()}`)
  try {
    await pipeline(body, createWriteStream(draft, { flags: 'wx' }))
    await rename(draft, target)
  } finally {
    await rm(draft, { force: true })
  }
}

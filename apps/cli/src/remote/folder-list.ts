/** The files of a folder here and in a Dock, for comparing them. */
import { isUtf8 } from 'node:buffer'
import { stat } from 'node:fs/promises'
import type { Dock } from '@dock/sdk'
import { LocalError, notFound } from '../program/failures.ts'
import { localEntries } from './local-entries.ts'
import { runRemote } from './run-remote.ts'
import { shellLine, shellWord } from './shell-line.ts'

export type FileFacts = { size: number /** Whole milliseconds. */; modified: number; mode: number }
/** By path relative to the folder. */
export type FolderList = Map<string, FileFacts>
/** What a list is made of. `onUnnamed` gets each file whose name is not UTF-8, which the list leaves out. */
export type Listing = { excluded: readonly string[]; onUnnamed: (name: string) => void }

const listBytesMax = 64 * 1024 * 1024

/** Returns true if a path of a Dock stays inside the folder that it is joined to. */
export function isInside(path: string): boolean {
  return path !== '' && !path.split('/').some((part) => part === '' || part === '.' || part === '..')
}

/** Returns true if a part of the path is one of these names. */
export function isExcluded(path: string, excluded: readonly string[]): boolean {
  return path.split('/').some((part) => excluded.includes(part))
}

/** Lists the regular files below a local folder. Links are not followed. */
export async function listLocal(folder: string, { excluded, onUnnamed }: Listing): Promise<FolderList> {
  const list: FolderList = new Map()
  const root = Buffer.from(folder)
  for await (const { place, entry } of localEntries(root, excluded)) {
    if (!entry.isFile()) continue
    const path = place.subarray(root.length + 1)
    if (!isUtf8(path)) onUnnamed(path.toString())
    else {
      const { size, mtimeMs, mode } = await stat(place)
      list.set(path.toString(), { size, modified: Math.floor(mtimeMs), mode: mode & 0o777 })
    }
  }
  return list
}

/** What the listing exits with if the folder is missing. */
const missingCode = 44

/**
 * Lists the regular files below a folder of a Dock. Throws if it cannot be listed whole: with half of a list, `--delete`
 * would remove files that are there. A folder that is missing is empty if it `mayBeMissing`.
 */
export async function listRemote(
  dock: Dock,
  folder: string,
  { excluded, onUnnamed }: Listing,
  mayBeMissing: boolean,
): Promise<FolderList> {
  const find = shellLine(['find', folder, '-type', 'f', '-printf', '%s %T@ %m %P\\0'])
  const chunks: Buffer[] = []
  let bytes = 0
  const stdout = {
    write: (chunk: string | Uint8Array) => {
      bytes += chunk.length
      if (bytes > listBytesMax) throw new LocalError('folder_too_large', `${folder} has too many files.`)
      chunks.push(Buffer.from(chunk as Uint8Array))
      return true
    },
  }
  let reason = ''
  const stderr = {
    write: (chunk: string | Uint8Array) => {
      if (reason.length < 500) reason += Buffer.from(chunk as Uint8Array).toString()
      return true
    },
  }
  const command = `[ -d ${shellWord(folder)} ] || exit ${missingCode}; ${find}`
  const code = await runRemote(dock, command, { isInput: false }, { stdout, stderr })
  if (code === missingCode && mayBeMissing) return new Map()
  if (code === missingCode) throw notFound(`There is no folder ${folder} in the Dock.`)
  if (code !== 0)
    throw new LocalError(
      'folder_unreadable',
      `${folder} cannot be listed: ${reason.split('\n')[0] || `exit code ${code}`}`,
    )
  const list: FolderList = new Map()
  for (const entry of Buffer.concat(chunks).toString('latin1').split('\0')) {
    const [, size, seconds, fraction = '', mode, name] =
      /^(\d+) (-?\d+)(?:\.(\d*))? ([0-7]+) (.*)$/s.exec(entry) ?? []
    const bytes = Buffer.from(name ?? '', 'latin1')
    const path = bytes.toString()
    if (!isInside(path) || isExcluded(path, excluded)) continue
    if (!isUtf8(bytes)) {
      onUnnamed(path)
      continue
    }
    list.set(path, {
      size: Number(size),
      modified: Number(seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0')),
      mode: Number.parseInt(mode!, 8) & 0o777,
    })
  }
  return list
}

/** Returns the paths whose files are missing, have another size, or are older in the target. */
export function changedPaths(source: FolderList, target: FolderList): string[] {
  return [...source].flatMap(([path, { size, modified }]) => {
    const there = target.get(path)
    return there && there.size === size && there.modified >= modified ? [] : [path]
  })
}

const commandBytesMax = 32 * 1024

/**
 * Gives files of a Dock the times that they have here, so that a later edit is newer, whatever the clock of the Dock says.
 * Returns false if one was not changed.
 */
export async function setRemoteTimes(
  dock: Dock,
  times: readonly (readonly [place: string, modified: number])[],
): Promise<boolean> {
  const batches: string[] = []
  for (const [place, modified] of times) {
    const line = `touch -c -d @${(modified / 1000).toFixed(3)} -- ${shellWord(place)}`
    const last = batches.at(-1)
    if (last !== undefined && Buffer.byteLength(last) + Buffer.byteLength(line) < commandBytesMax)
      batches[batches.length - 1] = `${last} && ${line}`
    else batches.push(line)
  }
  const silent = { write: () => true }
  for (const batch of batches) {
    const sinks = { stdout: silent, stderr: silent }
    if ((await runRemote(dock, batch, { isInput: false }, sinks)) !== 0) return false
  }
  return true
}

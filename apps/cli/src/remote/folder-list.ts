/** The files of a folder here and in a Dock, for comparing them. */
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Client, DockInfo } from '@dock/sdk'
import { LocalError, notFound } from '../program/failures.ts'
import { runRemote } from './run-remote.ts'
import { shellLine, shellWord } from './shell-line.ts'

export type FileFacts = { size: number /** Whole seconds. */; modified: number; mode: number }
/** By path relative to the folder. */
export type FolderList = Map<string, FileFacts>

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
export async function listLocal(folder: string, excluded: readonly string[]): Promise<FolderList> {
  const list: FolderList = new Map()
  const add = async (at: string): Promise<void> => {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (excluded.includes(entry.name)) continue
      const place = join(at, entry.name)
      if (entry.isDirectory()) await add(place)
      else if (entry.isFile()) {
        const { size, mtimeMs, mode } = await stat(place)
        list.set(relative(folder, place), { size, modified: Math.floor(mtimeMs / 1000), mode: mode & 0o777 })
      }
    }
  }
  await add(folder)
  return list
}

/** What the listing exits with if the folder is missing. */
const missingCode = 44

/**
 * Lists the regular files below a folder of a Dock. Throws if it cannot be listed whole: with half of a list, `--delete`
 * would remove files that are there. A folder that is missing is empty if it `mayBeMissing`.
 */
export async function listRemote(
  client: Client,
  info: DockInfo,
  folder: string,
  excluded: readonly string[],
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
  const code = await runRemote(client, info, command, { isInput: false }, { stdout, stderr })
  if (code === missingCode && mayBeMissing) return new Map()
  if (code === missingCode) throw notFound(`There is no folder ${folder} in the Dock.`)
  if (code !== 0)
    throw new LocalError(
      'folder_unreadable',
      `${folder} cannot be listed: ${reason.split('\n')[0] || `exit code ${code}`}`,
    )
  const list: FolderList = new Map()
  for (const entry of Buffer.concat(chunks).toString().split('\0')) {
    const [, size, modified, mode, path] = /^(\d+) (-?\d+)\.?\d* ([0-7]+) (.*)$/s.exec(entry) ?? []
    if (path === undefined || !isInside(path) || isExcluded(path, excluded)) continue
    list.set(path, {
      size: Number(size),
      modified: Number(modified),
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

/** The files and folders that an Environment adds to a new Dock. Each folder comes before the files in it. */
import { posix } from 'node:path'
import type { DockVariables, SecretFiles } from '@dock/host-protocol'
import type { Entry } from '../disks/pool.ts'
import { dockUser } from '../sandboxes/login-shell.ts'
import { variablesFile, variablesFolder, variablesPath } from './variables.ts'

const { home, uid, gid } = dockUser
const ofUser = { uid, gid }
/** The folder in which commands start and secret files are placed. */
const workFolder = `${home}/work`
/** Folder for the platform's own files in the user's home. */
const listFolder = `${home}/.dock`

/** Returns every folder between `top` and the file, outermost first; none if the path is not within `top`. */
const foldersTo = (top: string, path: string): string[] => {
  const folder = posix.dirname(path)
  return !folder.startsWith(`${top}/`) ? [] : [...foldersTo(top, folder), folder]
}

/** Returns the Dock user's secret files, and a list of them that lets a later delivery remove them. */
export function secretFileEntries(files: SecretFiles): Entry[] {
  if (files.length === 0) return []
  const placed = files.map(({ path, contents }) => ({ path: posix.join(workFolder, path), contents }))
  const folders = new Set(placed.flatMap(({ path }) => foldersTo(workFolder, path)))
  const list = files.map(({ path }) => `${path}\0`).join('')
  return [
    ...[workFolder, listFolder, ...folders].map((path) => ({ path, mode: 0o700, ...ofUser })),
    ...[...placed, { path: `${listFolder}/environment-files`, contents: list }].map(({ path, contents }) => ({
      ...{ path, mode: 0o600, ...ofUser },
      contents: Buffer.from(contents),
    })),
  ]
}

/** Returns the variables as a file in the sandbox's memory, which the Dock user may read but not change. */
export function variableEntries(env: DockVariables): Entry[] {
  const contents = variablesFile(env)
  if (contents.length === 0) return []
  return [
    { path: variablesFolder, mode: 0o755, uid: 0, gid },
    { path: variablesPath, mode: 0o640, uid: 0, gid, contents },
  ]
}

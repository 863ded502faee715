/** What an Environment puts into a new Dock, as folders and files to be made: those above a file stand before it. */
import { posix } from 'node:path'
import type { DockVariables, SecretFiles } from '@dock/host-protocol'
import { dockUser } from './login-shell.ts'
import type { Entry } from './seams.ts'
import { variablesFile, variablesFolder, variablesPath } from './variables.ts'

const { home, uid, gid } = dockUser
const ofUser = { uid, gid }
/** Where commands begin, and where secret files lie. */
const workFolder = `${home}/work`
/** What is beside the work folder is the platform's own. */
const listFolder = `${home}/.dock`

/** Every folder on the way from below `top` to the file, the uppermost first. */
const foldersTo = (top: string, path: string): string[] => {
  const folder = posix.dirname(path)
  return folder === top ? [] : [...foldersTo(top, folder), folder]
}

/** The Dock user's secret files, and the list by which a later delivery takes them away. */
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

/** The variables, in the sandbox's memory: the Dock user may read them and not change them. */
export function variableEntries(env: DockVariables): Entry[] {
  const contents = variablesFile(env)
  if (contents.length === 0) return []
  return [
    { path: variablesFolder, mode: 0o755, uid: 0, gid },
    { path: variablesPath, mode: 0o640, uid: 0, gid, contents },
  ]
}

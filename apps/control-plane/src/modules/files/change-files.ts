/** DELETE /v1/docks/:id/files, POST …/files/mkdir and …/files/move */
import { bytesOfName, type FileEntry, type RouteBody, type RouteQuery, type routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { parseEntry } from './entry.ts'
import { withFileSession } from './file-session.ts'
import type { FilesContext } from './files-context.ts'
import type { argvOf } from './programs.ts'

type Routes = typeof routes

const change = (
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  args: Parameters<typeof argvOf>[1],
): Promise<string[]> =>
  withFileSession(context, caller, dockId, ['change', args], (session) => session.readAnswer())

/** Deletes a file, an empty folder, or with `recursive` a folder and all it contains. */
export async function deleteFile(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, recursive }: RouteQuery<Routes['deleteDockFile']>,
): Promise<{ deleted: true }> {
  await change(context, caller, dockId, ['delete', bytesOfName(path), recursive])
  return { deleted: true }
}

/** Makes a folder. With `parents`, a folder that is there already is no error and keeps its mode. */
export async function makeFolder(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, mode = '', parents }: RouteBody<Routes['makeDockFolder']>,
): Promise<FileEntry> {
  return parseEntry(await change(context, caller, dockId, ['mkdir', bytesOfName(path), mode, parents]))
}

/** Moves a file or folder, also to another filesystem. Replaces a file only with `overwrite`, and never a folder. */
export async function moveFile(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { from, to, overwrite }: RouteBody<Routes['moveDockFile']>,
): Promise<FileEntry> {
  const args = ['move', bytesOfName(from), bytesOfName(to), overwrite, newUuid()]
  return parseEntry(await change(context, caller, dockId, args))
}

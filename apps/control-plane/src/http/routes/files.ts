/** Routes of files in running Docks. */
import {
  deleteFile,
  type FilesContext,
  listFiles,
  makeFolder,
  moveFile,
  readFile,
  watchFiles,
  writeFile,
} from '../../modules/files/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function fileHandlers(context: FilesContext): Handlers {
  return {
    readDockFile: ({ caller, params, query, range, accept, isHead }) =>
      readFile(context, caller, params.id, { path: query.path, range, accept, isHead }),
    writeDockFile: ({ caller, params, query, body, contentType }) =>
      writeFile(context, caller, params.id, query, { body, contentType }),
    deleteDockFile: ({ caller, params, query }) => deleteFile(context, caller, params.id, query),
    listDockFiles: ({ caller, params, query }) => listFiles(context, caller, params.id, query),
    makeDockFolder: ({ caller, params, body }) => makeFolder(context, caller, params.id, body),
    moveDockFile: ({ caller, params, body }) => moveFile(context, caller, params.id, body),
    watchDockFiles: ({ caller, params, query }) => watchFiles(context, caller, params.id, query),
  }
}

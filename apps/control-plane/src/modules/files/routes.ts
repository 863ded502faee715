/** Routes of files in running Docks. */
import type { Handlers } from '../../routing/handler.ts'
import { deleteFile, makeFolder, moveFile } from './change-files.ts'
import type { FilesContext } from './files-context.ts'
import { listFiles } from './list-files.ts'
import { readFile } from './read-file.ts'
import { watchFiles } from './watch-files.ts'
import { writeFile } from './write-file.ts'

export function fileRoutes(context: FilesContext): Handlers {
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

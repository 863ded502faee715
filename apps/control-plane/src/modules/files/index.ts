/** Public interface of the files module: files of running Docks. */

export { deleteFile, makeFolder, moveFile } from './change-files.ts'
export type { FilesContext } from './files-context.ts'
export { listFiles } from './list-files.ts'
export { createFilesModule, type FilesModule } from './module.ts'
export { readFile } from './read-file.ts'
export { createUploadBudget, type UploadPace, usualUploadPace } from './upload-budget.ts'
export { watchFiles } from './watch-files.ts'
export { writeFile } from './write-file.ts'

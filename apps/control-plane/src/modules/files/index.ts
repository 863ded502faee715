/** Public interface of the files module: files of running Docks. */

export { createFilesModule, type FilesModule } from './create-files-module.ts'
export type { FilesContext } from './files-context.ts'
export { deleteFile, makeFolder, moveFile } from './routes/change-files.ts'
export { listFiles } from './routes/list-files.ts'
export { readFile } from './routes/read-file.ts'
export { watchFiles } from './routes/watch-files.ts'
export { writeFile } from './routes/write-file.ts'
export { createUploadBudget, type UploadPace, usualUploadPace } from './upload-budget.ts'

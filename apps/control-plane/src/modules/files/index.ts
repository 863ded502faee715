/** Public interface of the files module: files of running Docks. */

export { createFilesModule } from './module.ts'
export { createUploadBudget, type UploadPace, usualUploadPace } from './upload-budget.ts'

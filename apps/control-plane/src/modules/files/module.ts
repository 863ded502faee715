import type { FilesContext } from './files-context.ts'
import { createOpenRequests } from './open-requests.ts'

export type FilesModule = { context: FilesContext }

export function createFilesModule(needs: Omit<FilesContext, 'open'>): FilesModule {
  return { context: { ...needs, open: createOpenRequests() } }
}

import type { Handlers } from '../../routing/handler.ts'
import type { FilesContext } from './files-context.ts'
import { createOpenRequests } from './open-requests.ts'
import { fileRoutes } from './routes.ts'

export type FilesModule = { routes: Handlers }

export function createFilesModule(needs: Omit<FilesContext, 'open'>): FilesModule {
  return { routes: fileRoutes({ ...needs, open: createOpenRequests() }) }
}

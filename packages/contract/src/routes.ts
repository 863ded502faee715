/** Every route of the service under its name. */
import { accountRoutes } from './routes/account.ts'
import { dockAccessRoutes } from './routes/dock-access.ts'
import { dockRoutes } from './routes/docks.ts'
import { hostRoutes } from './routes/hosts.ts'
import { imageRoutes } from './routes/images.ts'
import { instanceRoutes } from './routes/instance.ts'
import { keyRoutes } from './routes/keys.ts'
import { notificationRoutes } from './routes/notifications.ts'
import { operationRoutes } from './routes/operations.ts'
import { snapshotRoutes } from './routes/snapshots.ts'

export const routes = {
  ...dockRoutes,
  ...dockAccessRoutes,
  ...operationRoutes,
  ...imageRoutes,
  ...snapshotRoutes,
  ...instanceRoutes,
  ...accountRoutes,
  ...notificationRoutes,
  ...keyRoutes,
  ...hostRoutes,
} as const

export type Routes = typeof routes
export type RouteName = keyof Routes

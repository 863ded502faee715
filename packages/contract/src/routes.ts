/** Every route of the service by name. */
import { accountRoutes } from './routes/account.ts'
import { auditRoutes } from './routes/audit.ts'
import { billingRoutes } from './routes/billing.ts'
import { dashboardExtensionRoutes } from './routes/dashboard-extensions.ts'
import { deviceCodeRoutes } from './routes/device-codes.ts'
import { dockAccessRoutes } from './routes/dock-access.ts'
import { dockExtensionRoutes } from './routes/dock-extensions.ts'
import { dockRoutes } from './routes/docks.ts'
import { environmentContentsRoutes } from './routes/environment-contents.ts'
import { environmentRoutes } from './routes/environments.ts'
import { fileExtensionRoutes } from './routes/file-extensions.ts'
import { githubRoutes } from './routes/github.ts'
import { hostRoutes } from './routes/hosts.ts'
import { imageRoutes } from './routes/images.ts'
import { instanceRoutes } from './routes/instance.ts'
import { invitationRoutes } from './routes/invitations.ts'
import { keyRoutes } from './routes/keys.ts'
import { limitRoutes } from './routes/limits.ts'
import { notificationRoutes } from './routes/notifications.ts'
import { operationRoutes } from './routes/operations.ts'
import { operatorExtensionRoutes } from './routes/operator-extensions.ts'
import { organizationRoutes } from './routes/organizations.ts'
import { processExtensionRoutes } from './routes/process-extensions.ts'
import { runRoutes } from './routes/runs.ts'
import { snapshotRoutes } from './routes/snapshots.ts'
import { sshKeyExtensionRoutes } from './routes/ssh-key-extensions.ts'
import { templateRoutes } from './routes/templates.ts'
import { webhookExtensionRoutes } from './routes/webhook-extensions.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { workspaceRoutes } from './routes/workspaces.ts'

export const routes = {
  ...dockRoutes,
  ...dockAccessRoutes,
  ...dockExtensionRoutes,
  ...fileExtensionRoutes,
  ...processExtensionRoutes,
  ...operationRoutes,
  ...imageRoutes,
  ...snapshotRoutes,
  ...templateRoutes,
  ...environmentRoutes,
  ...environmentContentsRoutes,
  ...organizationRoutes,
  ...auditRoutes,
  ...billingRoutes,
  ...limitRoutes,
  ...invitationRoutes,
  ...workspaceRoutes,
  ...instanceRoutes,
  ...accountRoutes,
  ...notificationRoutes,
  ...keyRoutes,
  ...sshKeyExtensionRoutes,
  ...deviceCodeRoutes,
  ...webhookRoutes,
  ...webhookExtensionRoutes,
  ...hostRoutes,
  ...githubRoutes,
  ...runRoutes,
  ...dashboardExtensionRoutes,
  ...operatorExtensionRoutes,
} as const

export type Routes = typeof routes
export type RouteName = keyof Routes

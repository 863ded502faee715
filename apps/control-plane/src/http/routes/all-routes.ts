/** Binds every route of the modules. */
import type { AccountsModule } from '../../modules/accounts/index.ts'
import type { BillingModule } from '../../modules/billing/index.ts'
import type { ClosureModule } from '../../modules/closure/index.ts'
import type { DocksModule } from '../../modules/docks/index.ts'
import type { EnvironmentsModule } from '../../modules/environments/index.ts'
import type { FilesModule } from '../../modules/files/index.ts'
import type { GithubModule } from '../../modules/github/index.ts'
import type { HostsModule } from '../../modules/hosts/index.ts'
import type { InstanceModule } from '../../modules/instance/index.ts'
import type { KeysModule } from '../../modules/keys/index.ts'
import type { LimitsModule } from '../../modules/limits/index.ts'
import type { LiveModule } from '../../modules/live/index.ts'
import type { NotificationsModule } from '../../modules/notifications/index.ts'
import type { OrganizationsModule } from '../../modules/organizations/index.ts'
import type { PortsModule } from '../../modules/ports/index.ts'
import type { ProcessesModule } from '../../modules/processes/index.ts'
import type { RunsModule } from '../../modules/runs/index.ts'
import type { SnapshotsModule } from '../../modules/snapshots/index.ts'
import type { TemplatesModule } from '../../modules/templates/index.ts'
import type { TerminalsModule } from '../../modules/terminals/index.ts'
import type { WebhooksModule } from '../../modules/webhooks/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import { accountHandlers } from './accounts.ts'
import { billingHandlers } from './billing.ts'
import { closureHandlers } from './closure.ts'
import { dockHandlers } from './docks.ts'
import { environmentHandlers, environmentUpgradeHandlers } from './environments.ts'
import { fileHandlers } from './files.ts'
import { githubHandlers } from './github.ts'
import { hostHandlers } from './hosts.ts'
import { instanceHandlers } from './instance.ts'
import { assistantHandlers, keyHandlers, providerKeyHandlers } from './keys.ts'
import { limitHandlers } from './limits.ts'
import { liveHandlers } from './live.ts'
import { notificationHandlers } from './notifications.ts'
import { invitationHandlers, organizationHandlers, workspaceHandlers } from './organizations.ts'
import { portHandlers } from './ports.ts'
import { processHandlers } from './processes.ts'
import { runHandlers } from './runs.ts'
import { snapshotHandlers } from './snapshots.ts'
import { templateHandlers } from './templates.ts'
import { terminalHandlers } from './terminals.ts'
import { webhookHandlers } from './webhooks.ts'

export type RoutedModules = {
  accounts: AccountsModule
  billing: BillingModule
  closure: ClosureModule
  docks: DocksModule
  environments: EnvironmentsModule
  files: FilesModule
  github: GithubModule
  hosts: HostsModule
  instance: InstanceModule
  keys: KeysModule
  limits: LimitsModule
  live: LiveModule
  notifications: NotificationsModule
  organizations: OrganizationsModule
  ports: PortsModule
  processes: ProcessesModule
  runs: RunsModule
  snapshots: SnapshotsModule
  templates: TemplatesModule
  terminals: TerminalsModule
  webhooks: WebhooksModule
}

export function bindAllRoutes(modules: RoutedModules): Handlers {
  return {
    ...accountHandlers(modules.accounts.context),
    ...billingHandlers(modules.billing.context),
    ...closureHandlers(modules.closure.context),
    ...dockHandlers(modules.docks.context),
    ...environmentHandlers(modules.environments.context),
    ...environmentUpgradeHandlers(modules.docks.context),
    ...fileHandlers(modules.files.context),
    ...githubHandlers(modules.github.context),
    ...hostHandlers(modules.hosts.context),
    ...instanceHandlers(modules.instance.context),
    ...keyHandlers(modules.keys.context),
    ...providerKeyHandlers(modules.keys.context),
    ...assistantHandlers(modules.keys.context),
    ...limitHandlers(modules.limits.context),
    ...liveHandlers(modules.live.context),
    ...notificationHandlers(modules.notifications.context),
    ...organizationHandlers(modules.organizations.context),
    ...invitationHandlers(modules.organizations.context),
    ...workspaceHandlers(modules.organizations.context),
    ...portHandlers(modules.ports.context),
    ...processHandlers(modules.processes.context),
    ...runHandlers(modules.runs.context),
    ...snapshotHandlers(modules.snapshots.context),
    ...templateHandlers(modules.templates),
    ...terminalHandlers(modules.terminals.context),
    ...webhookHandlers(modules.webhooks.context),
  }
}

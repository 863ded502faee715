import type { Handlers } from '../../routing/handler.ts'
import { retentionEnabled } from '../accounts/index.ts'
import type { LostTimeParts } from '../docks/index.ts'
import type { HostGateway } from '../hosts/index.ts'
import { templateRoutes } from './routes.ts'
import type { TemplateContext } from './template-context.ts'
import { createDeleteTemplateSaga, createSaveTemplateSaga } from './template-saga.ts'
import {
  findTemplateForCreate,
  hasDockConnectors,
  removeTemplates,
  type TemplateSource,
  wipeTemplates,
} from './template-store.ts'

export type TemplatesModule = {
  routes: Handlers
  /** Returns the ready Template of that name, or null. */
  find(organizationId: string, name: string): Promise<TemplateSource | null>
  /** Deletes the Templates of organizations with zero data retention. */
  wipe(): Promise<void>
  /** Removes the Templates of a deleted organization. Returns how many are left. */
  removeAll(organizationId: string): Promise<number>
}

export function createTemplatesModule(
  needs: TemplateContext & {
    gateway: HostGateway
    /** Identifies this process on leases. */
    owner: string
    origins: LostTimeParts['origins']
  },
): TemplatesModule {
  const { db, clock, runner, limits, gateway, owner, origins } = needs
  const parts = { db, clock, gateway, owner, origins }
  runner.register([createSaveTemplateSaga(parts), createDeleteTemplateSaga(parts)])
  return {
    routes: templateRoutes(
      { db, clock, runner, limits },
      {
        retentionEnabled: (organizationId) => retentionEnabled(db, organizationId),
        hasConnectors: (dockId) => hasDockConnectors(db, dockId),
      },
    ),
    find: (organizationId, name) => findTemplateForCreate(db, organizationId, name),
    wipe: () => wipeTemplates(db),
    removeAll: (organizationId) => removeTemplates(db, organizationId),
  }
}

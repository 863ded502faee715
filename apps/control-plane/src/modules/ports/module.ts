import type { Handlers } from '../../routing/handler.ts'
import type { PortContext } from './port-context.ts'
import { createPortRoutes, type PortRoutes } from './port-routes.ts'
import { portRoutes } from './routes.ts'

export type PortsModule = {
  routes: Handlers
  /** Finds the Dock and port that a hosted name belongs to. */
  hosted: PortRoutes
}

export function createPortsModule({ db, clock, domain }: PortContext): PortsModule {
  return { routes: portRoutes({ db, clock, domain }), hosted: createPortRoutes({ db, clock }) }
}

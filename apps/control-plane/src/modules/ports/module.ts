import type { PortContext } from './port-context.ts'
import { createPortRoutes, type PortRoutes } from './port-routes.ts'

export type PortsModule = {
  context: PortContext
  /** Finds the Dock and port that a hosted name belongs to. */
  routes: PortRoutes
}

export function createPortsModule({ db, clock, domain }: PortContext): PortsModule {
  return { context: { db, clock, domain }, routes: createPortRoutes({ db, clock }) }
}

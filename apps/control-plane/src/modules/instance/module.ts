import type { Handlers } from '../../routing/handler.ts'
import { type InstanceContext, instanceRoutes } from './routes.ts'

export type InstanceModule = { routes: Handlers }

export function createInstanceModule(context: InstanceContext): InstanceModule {
  return { routes: instanceRoutes(context) }
}

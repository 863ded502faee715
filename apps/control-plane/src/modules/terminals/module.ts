import type { Handlers } from '../../routing/handler.ts'
import { createOpenTerminals } from './open-terminals.ts'
import { terminalRoutes } from './routes.ts'
import type { TerminalContext } from './terminal-context.ts'

export type TerminalsModule = { context: TerminalContext; routes: Handlers }

export function createTerminalsModule({
  db,
  clock,
  rateLimits,
  hosts,
  activity,
}: Omit<TerminalContext, 'open'>): TerminalsModule {
  const context = { db, clock, rateLimits, hosts, activity, open: createOpenTerminals() }
  return { context, routes: terminalRoutes(context) }
}

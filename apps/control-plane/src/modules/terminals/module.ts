import { createOpenTerminals } from './open-terminals.ts'
import type { TerminalContext } from './terminal-context.ts'

export type TerminalsModule = { context: TerminalContext }

export function createTerminalsModule({
  db,
  clock,
  rateLimits,
  hosts,
  activity,
}: Omit<TerminalContext, 'open'>): TerminalsModule {
  return { context: { db, clock, rateLimits, hosts, activity, open: createOpenTerminals() } }
}

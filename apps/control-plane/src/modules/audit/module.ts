import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import { pruneAudit } from './prune-audit.ts'
import { auditRoutes } from './routes.ts'

export type AuditModule = { routes: Handlers; start(): void; stop(): void }

const pruneEveryMs = 3_600_000

export function createAuditModule(needs: { db: Db; clock: Clock; logger: Logger }): AuditModule {
  const { db, clock, logger } = needs
  const prune = { name: 'old entries of the audit log', everyMs: pruneEveryMs, run: () => pruneAudit(needs) }
  const timers = createTimers({ clock, logger, tasks: [prune] })
  return { routes: auditRoutes(db), start: timers.start, stop: timers.stop }
}

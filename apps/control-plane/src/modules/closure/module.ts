import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import { removeAdminFile } from '../instance/index.ts'
import type { Erased } from '../lineage/index.ts'
import type { ClosureContext } from './closure-context.ts'
import { purgeAccounts } from './purge-accounts.ts'
import { reapplyErasures } from './reapply-erasures.ts'
import { closureRoutes } from './routes.ts'

export type ClosureModule = {
  routes: Handlers
  /** Repeats erasures that a restored database has undone. */
  reapplyErasures(erased: readonly Erased[]): Promise<void>
  start(): void
  stop(): void
}

const purgeEveryMs = 60_000

export function createClosureModule(
  needs: Omit<ClosureContext, 'forgetFiles'> & {
    /** The folder with `admin.json`. */
    controlDir: string
    /** Deletes what was stored of these mails. */
    forgetMails(ids: readonly string[]): Promise<void>
  },
): ClosureModule {
  const { db, clock, logger, sealer, wakeStops, wakeRemoval, controlDir, forgetMails } = needs
  const context: ClosureContext = {
    db,
    clock,
    logger,
    sealer,
    wakeStops,
    wakeRemoval,
    forgetFiles: async ({ email, mailIds }) => {
      await forgetMails(mailIds)
      await removeAdminFile(controlDir, email)
    },
  }
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'closed accounts', everyMs: purgeEveryMs, run: () => purgeAccounts(context) }],
  })
  return {
    routes: closureRoutes(context),
    reapplyErasures: (erased) => reapplyErasures(context, erased),
    start: timers.start,
    stop: timers.stop,
  }
}

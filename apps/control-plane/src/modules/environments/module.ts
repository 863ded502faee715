import type { Logger } from '@dock/foundation'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { DockContext } from '../docks/index.ts'
import type { EnvironmentContext } from './environment-context.ts'
import type { GitServers } from './git-servers.ts'
import { listRepositoriesToClone } from './pinned-repositories.ts'
import { listPassedSecrets, prepareApply } from './prepare-apply.ts'
import { pruneVersions } from './prune-versions.ts'
import { environmentRoutes } from './routes.ts'

type Target = Parameters<typeof prepareApply>[1]
type BootedDock = Parameters<typeof listRepositoriesToClone>[2]

/** What Environments pass to a Dock. */
export type PassedToDocks = {
  prepareApply(target: Target): ReturnType<typeof prepareApply>
  secrets(target: Target): ReturnType<typeof listPassedSecrets>
  repositories(dock: BootedDock): ReturnType<typeof listRepositoriesToClone>
}

export type EnvironmentsModule = {
  /** Returns the routes. `upgradeEnvironment` works on Docks. Their module is made after this one, because it uses `passed`. */
  routes(docks: DockContext): Handlers
  passed: PassedToDocks
  start(): void
  stop(): void
}

const pruneEveryMs = 600_000

export function createEnvironmentsModule(
  needs: EnvironmentContext & {
    logger: Logger
    /** Base URLs of the git providers. */
    gitServers: GitServers
  },
): EnvironmentsModule {
  const { db, clock, logger, sealer, rateLimits, limits, gitServers } = needs
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'old Environment versions', everyMs: pruneEveryMs, run: () => pruneVersions({ db, clock }) },
    ],
  })
  return {
    routes: (docks) => environmentRoutes({ db, clock, sealer, rateLimits, limits }, docks),
    passed: {
      prepareApply: (target) => prepareApply({ db, clock, sealer }, target),
      secrets: (target) => listPassedSecrets({ db, sealer }, target),
      repositories: (dock) => listRepositoriesToClone({ db, sealer }, gitServers, dock),
    },
    start: timers.start,
    stop: timers.stop,
  }
}

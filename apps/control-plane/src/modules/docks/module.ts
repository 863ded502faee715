import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { DockReactions, HostGateway } from '../hosts/index.ts'
import { activitySweepMs, createDockActivity, type DockActivity } from './activity/dock-activity.ts'
import { deleteExpiredKeys } from './boot/idempotency.ts'
import { createStartSagas } from './boot/start-saga.ts'
import { nextStopAt } from './core/dock-store.ts'
import type { LostTimeParts } from './core/lost-time.ts'
import { pruneDockRecords, removeDockRecords } from './core/prune-records.ts'
import { createTtlClock } from './core/ttl-clock.ts'
import { createDeleteSaga } from './delete/delete-saga.ts'
import { removeDocks } from './delete/remove-docks.ts'
import { wipeArchivedDocks } from './delete/wipe-archived.ts'
import type { DockContext } from './dock-context.ts'
import { createDockRepositories } from './environment/repositories/dock-repositories.ts'
import { createOrganizationOf, type OrganizationOf } from './environment/repositories/organization-of.ts'
import type { ListRepositoriesToClone } from './environment/repositories/repositories-to-clone.ts'
import { createUpgradeSaga } from './environment/upgrade-saga.ts'
import { createSecretsOf, type SecretsOf } from './environment/variables/dock-secrets.ts'
import type { PrepareApply } from './environment/variables/prepare-apply.ts'
import { deleteExpiredOutcomes } from './exec/exec-once.ts'
import { KeyedExecs } from './exec/keyed-execs.ts'
import { createFastMachines, type FastMachines, removeMachines } from './machines/fast-machines.ts'
import { pruneMachines } from './machines/machine-store.ts'
import { createDockReactions } from './recovery/reactions.ts'
import { dockRoutes } from './routes.ts'
import { createSetupSaga } from './setup/setup-saga.ts'
import { createOrderedStops, type OrderedStops } from './stop/ordered-stops.ts'
import { stopDueDocks } from './stop/stop-dock.ts'
import { createStopSaga } from './stop/stop-saga.ts'
import { createDockUsage, usageSweepMs } from './usage/dock-usage.ts'

export type DocksModule = {
  context: DockContext
  routes: Handlers
  activity: DockActivity
  /** How Docks react to what hosts report. */
  reactions: DockReactions
  orderedStops: OrderedStops
  /** The machines of fast Runs. */
  machines: FastMachines
  /** Returns the organization of a running Dock. */
  organizationOf: OrganizationOf
  /** Wipes the data at rest of organizations with zero data retention. */
  wipeRetained(): Promise<void>
  /** Remove the Docks, machines and then records of a deleted organization. Return how many are left. */
  removeAll(organizationId: string): Promise<number>
  removeMachines(organizationId: string): Promise<number>
  removeRecords(organizationId: string): Promise<number>
  start(): void
  stop(): void
  /** Saves outcomes of commands and usage that are still in memory. Call it last. */
  saveRest(): Promise<void>
}

/** What the sagas use besides the context. */
type SagaNeeds = {
  gateway: HostGateway
  /** Identifies this process on leases. */
  owner: string
  origins: LostTimeParts['origins']
  /** What Environments pass to Docks. */
  passed: { prepareApply: PrepareApply; secrets: SecretsOf; repositories: ListRepositoriesToClone }
} & Pick<Parameters<typeof createStartSagas>[0], 'ensureCapture' | 'ensureImage'>

export type DocksNeeds = Omit<DockContext, 'ttl' | 'usage' | 'activity' | 'keyedExecs'> &
  SagaNeeds & {
    /** Wipes Templates. A Template prevents the deletion of its Dock. */
    wipeTemplates(): Promise<void>
  }

export function createDocksModule(needs: DocksNeeds): DocksModule {
  const { ensureCapture, ensureImage, owner, origins, passed, wipeTemplates, ...given } = needs
  const { db, clock, logger } = given
  const ttl = createTtlClock({
    clock,
    logger,
    stopDue: () => stopDueDocks(context),
    nextDue: () => nextStopAt(db),
  })
  const usage = createDockUsage({ db, clock })
  const activity = createDockActivity({ db, clock, logger })
  const context: DockContext = { ...given, ttl, usage, activity, keyedExecs: new KeyedExecs(clock) }
  const machines = registerSagas(context, {
    gateway: needs.gateway,
    owner,
    origins,
    passed,
    ensureCapture,
    ensureImage,
  })
  const wipeRetained = async (): Promise<void> => {
    await wipeTemplates()
    await wipeArchivedDocks(context)
  }
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'activity', everyMs: activitySweepMs, run: () => activity.sweep() },
      { name: 'usage', everyMs: usageSweepMs, run: () => usage.writeEnded() },
      {
        name: 'idempotency keys',
        everyMs: 60_000,
        run: async () => {
          await deleteExpiredOutcomes({ db, clock })
          await deleteExpiredKeys(db, clock.now())
        },
      },
      { name: 'old records', everyMs: 600_000, run: () => pruneDockRecords({ db, clock }) },
      { name: 'ended machines of Runs', everyMs: 600_000, run: () => pruneMachines(db, clock.now()) },
      { name: 'zero data retention', everyMs: 60_000, run: wipeRetained },
    ],
  })
  const orderedStops = createOrderedStops(context)
  const background = [timers, ttl, orderedStops]
  return {
    context,
    routes: dockRoutes(context),
    activity,
    reactions: createDockReactions(context),
    orderedStops,
    machines,
    organizationOf: createOrganizationOf(db),
    wipeRetained,
    removeAll: (organizationId) => removeDocks(context, organizationId),
    removeMachines: (organizationId) => removeMachines(context, organizationId),
    removeRecords: (organizationId) => removeDockRecords(db, organizationId),
    start: () => {
      for (const each of background) each.start()
    },
    stop: () => {
      for (const each of background) each.stop()
    },
    saveRest: async () => {
      await context.keyedExecs.saveAll()
      await usage
        .flush()
        .catch((error: unknown) =>
          logger.warn({ err: error }, 'could not save usage; the last minute of usage is lost'),
        )
    },
  }
}

/** Returns the machines of fast Runs, which boot with the same parts. */
const registerSagas = (context: DockContext, needs: SagaNeeds): FastMachines => {
  const { db, clock, logger, sealer, ttl, policy, startFailures, runner } = context
  const { passed, ...rest } = needs
  const secretsOf = createSecretsOf({ db, sealer, passed: passed.secrets })
  const repositories = createDockRepositories({
    db,
    clock,
    gateway: needs.gateway,
    secretsOf,
    passed: passed.repositories,
  })
  const parts = {
    db,
    clock,
    sealer,
    ttl,
    policy,
    startFailures,
    repositories,
    ...rest,
    prepareApply: passed.prepareApply,
  }
  runner.register([
    ...createStartSagas(parts),
    createSetupSaga({ ...parts, secretsOf }),
    createStopSaga(parts),
    createDeleteSaga(parts),
    createUpgradeSaga({ ...parts, logger }),
  ])
  return createFastMachines(context, parts)
}

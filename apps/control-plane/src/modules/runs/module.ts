/** Constructs the module of GitHub Runs. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Channels } from '../../database/listen.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { GrantFor } from '../connectors/index.ts'
import type { DockContext, FastMachines } from '../docks/index.ts'
import { findInstallationForRun, type RunSink } from '../github/index.ts'
import type { HostGateway } from '../hosts/index.ts'
import { createRunDoor, type RunDoor } from './door/run-at-door.ts'
import type { RunPlan } from './insert-run.ts'
import { createRunGrants } from './machine/run-grant.ts'
import { runRoutes } from './routes.ts'
import type { RunContext } from './run-context.ts'
import { createRunLogSignals } from './run-log-signals.ts'
import { sweepEveryMs, sweepRuns } from './run-sweep.ts'
import type { RunGithub, TurnParts } from './saga/turn-context.ts'
import { createTurnSaga } from './saga/turn-saga.ts'
import { createRunSink } from './signals/create-run-sink.ts'

export type RunsModule = {
  context: RunContext
  routes: Handlers
  /** Takes triggers and signals of GitHub. */
  sink: RunSink
  /** What git may do in the Dock of a Run. Null for every other Dock. */
  grantFor: GrantFor
  /** The doors of models and of reports. */
  door: RunDoor
  listens: Channels
  start(): void
  stop(): void
}

export function createRunsModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  /** Identifies this process on leases. */
  owner: string
  docks: DockContext
  /** The machines of fast Runs. */
  machines: FastMachines
  /** False: no fast Run gets a machine. */
  isFastOn: boolean
  gateway: HostGateway
  github: RunGithub
  /** Base URL of the git server, without a trailing slash. */
  gitServer: string
  appUrl: string
  /** The image of the machines of Runs. Null: that of every other Dock. */
  image: string | null
}): RunsModule {
  const { db, clock, logger, sealer, owner, docks, gateway, github, gitServer, appUrl, image } = needs
  const { machines, isFastOn } = needs
  const { runner } = docks
  const door = createRunDoor({ db, sealer })
  const parts: TurnParts = {
    db,
    clock,
    logger,
    owner,
    docks,
    gateway,
    github,
    gitServer,
    door,
    image,
    wake: runner.wake,
    machines,
    isFastOn,
    sealer,
    linkOf: (runId) => `${appUrl}/runs/${runId}`,
  }
  runner.register([createTurnSaga(parts)])
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'runs', everyMs: sweepEveryMs, run: () => sweepRuns(parts) }],
  })
  const logSignals = createRunLogSignals()
  const context: RunContext = { db, clock, docks, github, isFastOn, planOf, logSignals, wake: runner.wake }
  return {
    context,
    routes: runRoutes(context),
    sink: createRunSink({ now: () => clock.now(), planOf, wake: runner.wake }),
    grantFor: createRunGrants({ db, github }),
    door,
    listens: { run_logs: logSignals.notice },
    start: timers.start,
    stop: timers.stop,
  }
}

const planOf = async (db: Db, installationId: string): Promise<RunPlan | null> => {
  const found = await findInstallationForRun(db, installationId)
  if (!found) return null
  const { createdBy, agent, testCommand, settings } = found
  const { executionTarget, environmentId, budgetCents, timeoutSeconds } = settings
  const { model, commandTemplate, allowWorkflowFiles } = settings
  return {
    createdBy,
    agent,
    testCommand,
    executionTarget,
    settings: {
      environment: environmentId,
      budgetUsd: budgetCents / 100,
      timeoutSeconds,
      model,
      commandTemplate,
      allowWorkflowFiles,
    },
  }
}

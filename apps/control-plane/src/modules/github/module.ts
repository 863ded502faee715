/** Constructs the module of the GitHub App: linked repositories, webhooks of GitHub, and what Dock does there. */
import type { Clock, Logger } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import type { Channels } from '../../database/listen.ts'
import { createTimers } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import { apiUrlOf, createGithubApi } from './api/github-api.ts'
import { createGithubOperations, type GithubOperations } from './api/github-operations.ts'
import { createInstallationTokens } from './api/installation-tokens.ts'
import { type AppSettings, createFindApp } from './app/github-app.ts'
import type { GithubContext } from './github-context.ts'
import { unlinkOrganization } from './installations/unlink.ts'
import { githubRoutes } from './routes.ts'
import type { RunSink } from './run-triggers.ts'
import { askAgain } from './webhooks/ask-again.ts'
import { createReceiveWebhook, type ReceiveWebhook } from './webhooks/receive-webhook.ts'
import { createWebhookProcessor } from './webhooks/webhook-processor.ts'
import { pruneWebhooks, releaseWebhooks } from './webhooks/webhook-store.ts'

export type GithubModule = {
  context: GithubContext
  routes: Handlers
  operations: GithubOperations
  receiveWebhook: ReceiveWebhook
  /** True if the instance has an App. */
  isConfigured(): Promise<boolean>
  /** Ends the links of a deleted organization, and its Runs with them. Idempotent. Nothing is left when it resolves. */
  unlinkOrganization(organizationId: string): Promise<number>
  /** Looks for received webhooks. Called when some were saved. */
  wake(): void
  listens: Channels
  start(): void
  /** Resolves when no webhook is being processed. */
  stop(): Promise<void>
}

const minuteMs = 60_000

export function createGithubModule(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  rateLimits: RateLimits
  /** The operator's App. Null: an instance admin makes one. */
  settings: AppSettings | null
  githubUrl: string
  apiUrl: string
  appUrl: string
  runs: RunSink
}): GithubModule {
  const { db, clock, logger, sealer, rateLimits, settings, githubUrl, apiUrl, appUrl, runs } = options
  const api = createGithubApi(apiUrlOf(githubUrl))
  const findApp = createFindApp({ db, sealer, settings, githubUrl })
  const tokens = createInstallationTokens({ api, findApp, clock })
  const operations = createGithubOperations({ api, tokens, findApp })
  const processor = createWebhookProcessor({ db, clock, logger, findApp, operations, runs })
  const lookForMissing = () => askAgain({ db, clock, logger, api, findApp })
  let starting: Promise<void> = Promise.resolve()
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'missed webhooks of GitHub', everyMs: 5 * minuteMs, run: lookForMissing },
      { name: 'old webhooks of GitHub', everyMs: 60 * minuteMs, run: () => pruneWebhooks(db, clock.now()) },
    ],
  })
  const context = {
    db,
    clock,
    sealer,
    rateLimits,
    api,
    findApp,
    githubUrl,
    apiUrl,
    appUrl,
    runs,
    isAppFromSettings: settings !== null,
  }
  return {
    context,
    routes: githubRoutes(context),
    operations,
    receiveWebhook: createReceiveWebhook({ db, clock, findApp, wake: processor.wake }),
    isConfigured: async () => (await findApp()) !== null,
    unlinkOrganization: async (organizationId) => {
      await withTransaction(db, (tx) => unlinkOrganization(tx, runs, organizationId))
      runs.wake()
      return 0
    },
    wake: processor.wake,
    listens: { github_webhooks: processor.wake },
    start: () => {
      starting = releaseWebhooks(db, clock.now())
        .catch((error: unknown) =>
          logger.warn({ err: error }, 'could not end the leases of webhooks; they end by themselves'),
        )
        .then(processor.start)
      timers.start()
      lookForMissing().catch((error: unknown) =>
        logger.warn({ err: error }, 'could not ask GitHub for missed webhooks; it is tried again'),
      )
    },
    stop: async () => {
      timers.stop()
      await starting
      await processor.stop()
    },
  }
}

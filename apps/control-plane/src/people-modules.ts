/** Wires up sign-in, accounts and their closure, notifications, and the signals of lost access. */
import type { Clock, Logger } from '@dock/foundation'
import type pg from 'pg'
import type { Config } from './config.ts'
import type { Db } from './database/database.ts'
import { createTimers } from './engine/index.ts'
import type { Handlers } from './http/handler.ts'
import { accountHandlers } from './http/routes/accounts.ts'
import { closureHandlers } from './http/routes/closure.ts'
import { notificationHandlers } from './http/routes/notifications.ts'
import type { MailTransport } from './mail/mail-transport.ts'
import { type Mailer, saveMail } from './mail/outbox.ts'
import { pruneMails } from './mail/prune-mails.ts'
import {
  type AccessSignals,
  createAccessSignals,
  createSignIn,
  pruneSignIns,
  type SignIn,
  storeGrant,
} from './modules/accounts/index.ts'
import { type ClosureContext, purgeAccounts, reapplyErasures } from './modules/closure/index.ts'
import { refusesSecrets } from './modules/docks/index.ts'
import { removeAdminFile } from './modules/instance/index.ts'
import { dropKeys } from './modules/keys/index.ts'
import type { Erased } from './modules/lineage/index.ts'
import { pruneNotifications } from './modules/notifications/index.ts'
import { isInvitedAddress } from './modules/organizations/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import type { Sealer } from './sealing/index.ts'

export type PeopleModules = {
  handlers: Handlers
  signIn: SignIn
  accessSignals: AccessSignals
  /** Repeats erasures that a restored database has undone. */
  reapplyErasures(erased: readonly Erased[]): Promise<void>
  start(): void
  /** Resolves when no sign-in has background work left. */
  stop(): Promise<void>
}

const hourMs = 3_600_000

export function createPeopleModules(options: {
  db: Db
  connections: pg.Pool
  clock: Clock
  logger: Logger
  config: Pick<Config, 'apiUrl' | 'appUrl' | 'controlDir' | 'signUp' | 'social'>
  authSecret: string
  sealer: Sealer
  rateLimits: RateLimits
  transport: MailTransport
  mailer: Mailer
  /** Called after stops were ordered, and after organizations were deleted. */
  wakeStops(): void
  wakeRemoval(): void
}): PeopleModules {
  const { db, clock, logger, config, transport, mailer } = options
  const accessSignals = createAccessSignals({ db, clock, logger, refusesSecrets })
  const signIn = createSignIn({
    ...config,
    db,
    connections: options.connections,
    logger,
    rateLimits: options.rateLimits,
    secret: options.authSecret,
    isInvited: (email, token) => isInvitedAddress(db, email, token, clock.now()),
    dropKeys: (tx, userId) => dropKeys(tx, userId, clock.now()),
    keepGrant: (login, grant) => storeGrant({ db, sealer: options.sealer }, login, grant),
    sendMail: async (mail) => {
      await saveMail(db, mail)
      mailer.wake()
    },
  })
  const closure: ClosureContext = {
    db,
    clock,
    logger,
    sealer: options.sealer,
    wakeStops: options.wakeStops,
    wakeRemoval: options.wakeRemoval,
    forgetFiles: async ({ email, mailIds }) => {
      await transport.forget(mailIds)
      await removeAdminFile(config.controlDir, email)
    },
  }
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'closed accounts', everyMs: 60_000, run: () => purgeAccounts(closure) },
      { name: 'old sign-ins', everyMs: hourMs, run: () => pruneSignIns({ db, clock }) },
      { name: 'old notifications', everyMs: hourMs, run: () => pruneNotifications({ db, clock }) },
      { name: 'old mails', everyMs: hourMs, run: () => pruneMails({ db, clock, transport }) },
    ],
  })
  return {
    handlers: {
      ...accountHandlers({ db, clock }),
      ...closureHandlers(closure),
      ...notificationHandlers({ db, clock }),
    },
    signIn,
    accessSignals,
    reapplyErasures: (erased) => reapplyErasures(closure, erased),
    start: () => {
      accessSignals.start()
      timers.start()
    },
    stop: async () => {
      accessSignals.stop()
      timers.stop()
      await signIn.settled()
    },
  }
}

import type { Clock, Logger } from '@dock/foundation'
import type { RawBuilder } from 'kysely'
import type { Channels } from '../../database/listen.ts'
import { createTimers } from '../../engine/index.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import { type AccessSignals, createAccessSignals } from './access-signals.ts'
import { pruneSignIns } from './prune-sign-ins.ts'
import { accountRoutes } from './routes.ts'
import { type AuthenticateSession, createSessionAuthentication } from './sign-in/authenticate-session.ts'
import { storeGrant } from './sign-in/provider-grants.ts'
import { sessionCookieName } from './sign-in/session-cookie.ts'
import { createSignIn, type SignIn, type SignInOptions } from './sign-in/sign-in.ts'

export type AccountsModule = {
  routes: Handlers
  signIn: SignIn
  accessSignals: AccessSignals
  authenticateSession: AuthenticateSession
  cookieName: string
  listens: Channels
  start(): void
  /** Resolves when no sign-in has background work left. */
  stop(): Promise<void>
}

const pruneEveryMs = 3_600_000

export function createAccountsModule(
  needs: Omit<SignInOptions, 'keepGrant'> & {
    clock: Clock
    logger: Logger
    sealer: Sealer
    /** SQL predicate: true if Dock `d` hides its secrets from member `m`. */
    refusesSecrets: RawBuilder<boolean>
  },
): AccountsModule {
  const { db, clock, logger, sealer, secret } = needs
  const accessSignals = createAccessSignals({ db, clock, logger, refusesSecrets: needs.refusesSecrets })
  const signIn = createSignIn({
    ...needs,
    keepGrant: (login, grant) => storeGrant({ db, sealer }, login, grant),
  })
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'old sign-ins', everyMs: pruneEveryMs, run: () => pruneSignIns({ db, clock }) }],
  })
  return {
    routes: accountRoutes({ db, clock }),
    signIn,
    accessSignals,
    authenticateSession: createSessionAuthentication({ db, clock, secret }),
    cookieName: sessionCookieName(needs.apiUrl.startsWith('https:')),
    listens: { access_lost: accessSignals.notice },
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

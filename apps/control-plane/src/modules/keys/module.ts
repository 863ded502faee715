import type { Clock, Logger } from '@dock/foundation'
import type { Db, Tx } from '../../database/database.ts'
import { createTimers } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Handlers } from '../../routing/handler.ts'
import type { Sealer } from '../../sealing/index.ts'
import { type AuthenticateApiKey, createApiKeyAuthentication } from './api-keys/authenticate-api-key.ts'
import { createDeviceFlow, type DeviceFlowSettings } from './assistant/device-flow.ts'
import { createDeviceApproval, type DeviceApproval } from './device-codes/device-approval.ts'
import { pruneDeviceCodes } from './device-codes/device-code-store.ts'
import { dropKeys } from './drop-keys.ts'
import { keyRoutes } from './routes.ts'
import { ensureSshHostKeys, type SshHostKey } from './ssh-keys/ssh-host-keys.ts'
import { createSshKeyAccess, type SshKeyAccess } from './ssh-keys/ssh-key-access.ts'
import { deleteExpiredSshKeys } from './ssh-keys/ssh-key-store.ts'

export type KeysModule = {
  routes: Handlers
  deviceApproval: DeviceApproval
  authenticateApiKey: AuthenticateApiKey
  sshKeyAccess: SshKeyAccess
  /** Returns the SSH gateway's host keys. Creates them at the first call. */
  ensureSshHostKeys(): Promise<SshHostKey[]>
  /** Revokes a person's API keys and deletes their SSH keys, in the caller's transaction. */
  dropKeys(tx: Tx, userId: string): Promise<void>
  start(): void
  stop(): void
}

const pruneEveryMs = 600_000

export function createKeysModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  rateLimits: RateLimits
  sealer: Sealer
  /** Undefined: sign-in with the hosted assistant's provider is off. */
  chatgpt: DeviceFlowSettings | undefined
  apiUrl: string
}): KeysModule {
  const { db, clock, logger, rateLimits, sealer, chatgpt, apiUrl } = needs
  const deviceFlow = chatgpt ? createDeviceFlow(chatgpt) : null
  const context = { db, clock, rateLimits, sealer, deviceFlow, apiUrl }
  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'old device codes', everyMs: pruneEveryMs, run: () => pruneDeviceCodes(db, clock.now()) },
      { name: 'expired SSH keys', everyMs: pruneEveryMs, run: () => deleteExpiredSshKeys(db, clock.now()) },
    ],
  })
  return {
    routes: keyRoutes(context),
    deviceApproval: createDeviceApproval(context),
    authenticateApiKey: createApiKeyAuthentication({ db, clock, logger }),
    sshKeyAccess: createSshKeyAccess({ db, clock, logger }),
    ensureSshHostKeys: () => ensureSshHostKeys({ db, clock, sealer }),
    dropKeys: (tx, userId) => dropKeys(tx, userId, clock.now()),
    start: timers.start,
    stop: timers.stop,
  }
}

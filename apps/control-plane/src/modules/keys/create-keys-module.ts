import type { Clock, Logger } from '@dock/foundation'
import type { Db, Tx } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import { type AuthenticateApiKey, createApiKeyAuthentication } from './authenticate-api-key.ts'
import { createDeviceFlow, type DeviceFlowSettings } from './device-flow.ts'
import { dropKeys } from './drop-keys.ts'
import type { KeysContext } from './keys-context.ts'
import { ensureSshHostKeys, type SshHostKey } from './ssh-host-keys.ts'
import { createSshKeyAccess, type SshKeyAccess } from './ssh-key-access.ts'

export type KeysModule = {
  context: KeysContext
  authenticateApiKey: AuthenticateApiKey
  sshKeyAccess: SshKeyAccess
  /** Returns the SSH gateway's host keys. Creates them at the first call. */
  ensureSshHostKeys(): Promise<SshHostKey[]>
  /** Revokes a person's API keys and deletes their SSH keys, in the caller's transaction. */
  dropKeys(tx: Tx, userId: string): Promise<void>
}

export function createKeysModule(needs: {
  db: Db
  clock: Clock
  logger: Logger
  rateLimits: RateLimits
  sealer: Sealer
  /** Undefined: sign-in with the hosted assistant's provider is off. */
  chatgpt: DeviceFlowSettings | undefined
}): KeysModule {
  const { db, clock, logger, rateLimits, sealer, chatgpt } = needs
  return {
    context: { db, clock, rateLimits, sealer, deviceFlow: chatgpt ? createDeviceFlow(chatgpt) : null },
    authenticateApiKey: createApiKeyAuthentication({ db, clock, logger }),
    sshKeyAccess: createSshKeyAccess({ db, clock, logger }),
    ensureSshHostKeys: () => ensureSshHostKeys({ db, clock, sealer }),
    dropKeys: (tx, userId) => dropKeys(tx, userId, clock.now()),
  }
}

/** The dependencies of the SSH gateway. Created once when the server starts. */
import type { Logger, Precedence } from '@dock/foundation'
import type { AccessSignals } from '../../modules/accounts/index.ts'
import type { DockContext } from '../../modules/docks/index.ts'
import type { SshKeyAccess } from '../../modules/keys/index.ts'

export type SshMetrics = {
  /** Sets the number of open connections. */
  connections(count: number): void
  login(result: 'accepted' | 'refused'): void
  session(kind: 'shell' | 'exec' | 'sftp'): void
}

export type SshContext = {
  docks: DockContext
  keys: SshKeyAccess
  accessSignals: AccessSignals
  logger: Logger
  metrics: SshMetrics
  /** Lets API requests go before large streams. */
  precedence: Precedence
  /** The address at which clients reach the gateway, for messages. */
  address: { host: string; port: number }
}

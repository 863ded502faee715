/** The counter store that several control planes can share: Redis or Valkey. */
import type { Logger } from '@dock/foundation'
import type { Redis } from 'ioredis'

export type CounterStore = { client: Redis; close(): void }

const reconnectMsMax = 2_000

/** Connects in the background. While the store is unavailable, commands fail at once instead of waiting for it. */
export async function openRedisCounters(
  url: string,
  logger: Logger,
  commandTimeoutMs = 500,
): Promise<CounterStore> {
  // Only servers with such a store pay for the library.
  const { Redis } = await import('ioredis')
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectMsMax),
  })
  let isDown = false
  client.on('error', (error: Error) => {
    if (!isDown)
      logger.warn({ err: error }, 'the counter store is unavailable; refusing all rate-limited requests')
    isDown = true
  })
  client.on('ready', () => {
    if (isDown) logger.info('the counter store is available again')
    isDown = false
  })
  return { client, close: () => client.disconnect() }
}

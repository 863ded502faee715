/** The counter store that several control planes share: Redis or Valkey. */
import type { Logger } from '@dock/foundation'
import { Redis } from 'ioredis'

export type CounterStore = { client: Redis; close(): void }

const reconnectMsMax = 2_000

/** Connects in the background. Nothing waits for a store that is away: its commands fail, and so do those who asked. */
export function openRedisCounters(url: string, logger: Logger, commandTimeoutMs = 500): CounterStore {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandTimeoutMs,
    retryStrategy: (attempt) => Math.min(attempt * 100, reconnectMsMax),
  })
  let away = false
  client.on('error', (error: Error) => {
    if (!away) logger.warn({ err: error }, 'the counter store is away: what is rate limited is refused')
    away = true
  })
  client.on('ready', () => {
    if (away) logger.info('the counter store is back')
    away = false
  })
  return { client, close: () => client.disconnect() }
}

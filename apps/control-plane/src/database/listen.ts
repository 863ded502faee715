/**
 * Receives NOTIFY on a separate connection. A notification only makes its callback read the current state again, so
 * notifications lost with the connection are made up for by one call after each reconnect.
 */
import type { Clock } from '@dock/foundation'
import pg from 'pg'

const retryMs = 1_000

export type Listener = { close(): Promise<void> }

export type Channel =
  | 'dock_engine'
  | 'access_lost'
  | 'port_routes'
  | 'snapshot_completed'
  | 'snapshots_wiped'
  | 'retention'
  | 'webhook_deliveries'
  | 'github_webhooks'
  | 'ssh_host_keys'
  | 'live_changes'
  | 'run_logs'

/** Callbacks by channel. Each gets the payload of a notification, or none after a connect. */
export type Channels = { readonly [Name in Channel]?: (payload?: string) => void }

/**
 * Calls a channel's callback with the payload of each notification, and without a payload after each connect.
 * Reconnects when the connection breaks.
 */
export function listen(options: {
  url: string
  on: Channels
  clock: Clock
  onLost: (error: Error) => void
}): Listener {
  const { url, clock, onLost } = options
  const channels = new Map(Object.entries(options.on))
  let closed = false
  let current: pg.Client | undefined
  let cancelRetry: () => void = () => undefined

  const connect = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'dock-listener',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    current = client
    let lost = false
    const lose = (error: Error): void => {
      if (lost || closed) return
      lost = true
      onLost(error)
      client.end().catch(() => undefined)
      cancelRetry = clock.after(retryMs, () => void connect())
    }
    client.on('error', lose)
    client.on('end', () => lose(new Error('the connection ended')))
    client.on('notification', ({ channel, payload }) => channels.get(channel)?.(payload ?? ''))
    try {
      await client.connect()
      for (const [channel, onNotice] of channels) {
        await client.query(`listen ${channel}`)
        onNotice()
      }
    } catch (error) {
      lose(error instanceof Error ? error : new Error(String(error)))
    }
  }
  void connect()
  return {
    close: async () => {
      closed = true
      cancelRetry()
      await current?.end().catch(() => undefined)
    },
  }
}

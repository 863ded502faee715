/**
 * The live stream. One tab of the browser holds it (Web Locks) and hands its events to the others (BroadcastChannel):
 * over HTTP/1.1 a browser opens only six connections to one origin.
 */
import type { LiveChange } from '@dock/sdk'
import type { QueryClient } from '@tanstack/react-query'
import { refreshDockLists } from './dock-list.ts'
import { createRefresher, type Noticed } from './refresher.ts'

/** `cursor` is what the stream has reached: another tab can continue from there. */
type Message = { changes: Noticed[]; cursor: string } | { connectedAt: string } | 'reset' | 'lost'
/** A tab that has just opened asks whether another one holds the stream. */
const question = 'is anybody there?'

type Listener = (isConnected: boolean) => void

const refusedWaitMs = 2_000
/** Tabs with pages of an older version use another name, because their messages differ. */
const channelName = 'dock-live-3'

/** Keeps queries up to date until the returned function is called. `onState` is called when the connection changes. */
export function followChanges(client: QueryClient, onState: Listener): () => void {
  const channel = new BroadcastChannel(channelName)
  let cursor: string | undefined
  let held: EventSource | undefined
  let hasHeard = false
  let isLost = false
  const end = new AbortController()
  const refresher = createRefresher((key, ids) => {
    // The person sees more or less than before, on every page.
    if (key === 'membership') return client.invalidateQueries()
    // Each Run that is at work changes its log every second.
    if (key === 'run_log')
      return Promise.all([...ids].map((id) => client.invalidateQueries({ queryKey: [key, id] })))
    const again = client.invalidateQueries({ queryKey: [key] })
    return key === 'dock' ? Promise.all([again, refreshDockLists(client, ids)]) : again
  })

  const take = (message: Message): void => {
    if (message === 'reset') {
      void client.invalidateQueries()
      return
    }
    const wasLost = isLost
    isLost = message === 'lost'
    onState(!isLost)
    if (message === 'lost') return
    // What could not be read while the service was away may have nothing to do with the changes that follow.
    if (wasLost) void client.invalidateQueries({ predicate: ({ state }) => state.status === 'error' })
    if ('connectedAt' in message) {
      cursor = message.connectedAt
      return
    }
    cursor = message.cursor
    refresher.notice(message.changes)
  }
  const publish = (message: Message): void => {
    channel.postMessage(message)
    take(message)
  }
  channel.addEventListener('message', ({ data }) => {
    if (data === question) {
      if (held?.readyState === EventSource.OPEN && cursor !== undefined)
        channel.postMessage({ connectedAt: cursor } satisfies Message)
      return
    }
    take(data as Message)
    // While the service is away, nothing can be read again.
    if (hasHeard || data === 'lost') return
    hasHeard = true
    // This tab may have read before the browser connected it to the channel, and missed changes in between.
    if (data !== 'reset') take('reset')
  })
  channel.postMessage(question)

  /** Holds the stream until this tab ends, or the service refuses it. The browser repairs broken connections. */
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      // The tab that held the stream before has closed: nothing is missed since its last event.
      const since = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`
      const source = new EventSource(`/api/live${since}`)
      held = source
      source.addEventListener('ready', ({ lastEventId }) => {
        publish({ connectedAt: lastEventId })
        // What was read before the stream began may have changed since.
        publish('reset')
      })
      for (const name of ['resumed', 'alive'])
        source.addEventListener(name, ({ lastEventId }: MessageEvent) =>
          publish({ connectedAt: lastEventId }),
        )
      source.addEventListener('reset', () => publish('reset'))
      source.addEventListener('changes', ({ data, lastEventId }) => {
        const changes = JSON.parse(data as string) as LiveChange[]
        publish({ changes: changes.map(({ kind, id }) => ({ kind, id })), cursor: lastEventId })
      })
      source.addEventListener('error', () => {
        publish('lost')
        if (source.readyState === EventSource.CLOSED) setTimeout(resolve, refusedWaitMs)
      })
      end.signal.addEventListener('abort', () => {
        source.close()
        resolve()
      })
    })
  const lead = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await hold()
      // The session may have ended. The page then leads to the sign-in.
      if (!end.signal.aborted) void client.invalidateQueries({ queryKey: ['me'] })
    }
  }
  navigator.locks.request(channelName, { signal: end.signal }, lead).catch(() => undefined)
  return () => {
    end.abort()
    refresher.stop()
    channel.close()
  }
}

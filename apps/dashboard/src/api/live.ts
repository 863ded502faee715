/**
 * The live stream. One tab of the browser holds it (Web Locks) and hands its events to the others (BroadcastChannel):
 * over HTTP/1.1 a browser opens only six connections to one origin.
 */
import type { QueryClient } from '@tanstack/react-query'
import { noticeChanges } from './queries.ts'

type Message = { kinds: string[] } | 'reset' | 'connected' | 'lost'

type Listener = (isConnected: boolean) => void

const changesTogetherMs = 40
const refusedWaitMs = 2_000

/** Keeps queries up to date until the returned function is called. `onState` is called when the connection changes. */
export function followChanges(client: QueryClient, onState: Listener): () => void {
  const channel = new BroadcastChannel('dock-live')
  const end = new AbortController()
  const pending = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const take = (message: Message): void => {
    if (message === 'reset') {
      void client.invalidateQueries()
      return
    }
    if (message === 'connected' || message === 'lost') {
      onState(message === 'connected')
      return
    }
    for (const kind of message.kinds) pending.add(kind)
    timer ??= setTimeout(() => {
      timer = undefined
      noticeChanges(client, pending)
      pending.clear()
    }, changesTogetherMs)
  }
  const publish = (message: Message): void => {
    channel.postMessage(message)
    take(message)
  }
  channel.addEventListener('message', ({ data }) => take(data as Message))

  /** Holds the stream until this tab ends, or the service refuses it. The browser repairs broken connections. */
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      const source = new EventSource('/api/live')
      source.addEventListener('ready', () => {
        publish('connected')
        // What was read before the stream began may have changed since.
        publish('reset')
      })
      source.addEventListener('resumed', () => publish('connected'))
      source.addEventListener('reset', () => publish('reset'))
      source.addEventListener('changes', ({ data }) => {
        const changes = JSON.parse(data as string) as { kind: string }[]
        publish({ kinds: [...new Set(changes.map(({ kind }) => kind))] })
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
  navigator.locks.request('dock-live', { signal: end.signal }, lead).catch(() => undefined)
  return () => {
    end.abort()
    clearTimeout(timer)
    channel.close()
  }
}

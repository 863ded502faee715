/** The route of the live stream. */
import type { Handlers } from '../../routing/handler.ts'
import { type LiveContext, readLive } from './read-live.ts'

export function liveRoutes(context: LiveContext): Handlers {
  return {
    readLive: ({ caller, query, lastEventId }) => readLive(context, caller, lastEventId ?? query.cursor),
  }
}

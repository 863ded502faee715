/** The route of the live stream. */
import { type LiveContext, readLive } from '../../modules/live/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function liveHandlers(context: LiveContext): Handlers {
  return {
    readLive: ({ caller, query, lastEventId }) => readLive(context, caller, lastEventId ?? query.cursor),
  }
}

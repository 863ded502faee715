/** Requests to a host's agent whose response is a stream. */
import { type AgentLink, type AgentStream, refusalOf, type StreamOptions } from '@dock/host-protocol'
import { readAtMost, shortBodyBytesMax } from './read-at-most.ts'

/** Sends a request and returns the open response. Throws HostRefused or HostUnreachable. */
export type Ask = (
  hostId: string,
  method: string,
  path: string,
  options?: StreamOptions,
) => Promise<AgentStream>

/** Returns a function that sends requests over the host's link. `link` throws HostUnreachable if there is none. */
export function createHostRequests(link: (hostId: string) => AgentLink): Ask {
  return async (hostId, method, path, options) => {
    const answer = await link(hostId).stream(method, path, options)
    if (answer.status === 200) return answer
    // A refusal that is too long is treated like an unreadable one.
    throw refusalOf(answer.status, (await readAtMost(answer.stream, shortBodyBytesMax)) ?? '')
  }
}

/** Calls of a host whose answer comes as a stream. */
import { type AgentLink, type AgentStream, refusalOf, type StreamOptions } from '@dock/host-protocol'
import { translated } from './translate-failure.ts'

/** Throws HostRefused or HostUnreachable. */
export type Ask = (
  hostId: string,
  method: string,
  path: string,
  options?: StreamOptions,
) => Promise<AgentStream>

/** `link` returns a link of the host, or throws HostUnreachable. */
export function askOver(link: (hostId: string) => AgentLink): Ask {
  return (hostId, method, path, options) =>
    translated(
      (async () => {
        const answer = await link(hostId).stream(method, path, options)
        if (answer.status === 200) return answer
        throw refusalOf(answer.status, (await answer.stream.toArray()).join(''))
      })(),
    )
}

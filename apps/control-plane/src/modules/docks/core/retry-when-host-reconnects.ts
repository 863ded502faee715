/**
 * Retries a host command if the link broke while it ran and the host reconnects soon, for example after a restart of its
 * agent. Retrying is safe: commands carry operation and generation, so the host joins the running command, returns its
 * earlier result, or executes it now.
 */
import { type HostGateway, HostUnreachable } from '../../hosts/index.ts'

/** How long to wait for a host to reconnect. */
export const reconnectTimeoutMs = 15_000
const attemptsMax = 3

/** Runs the command, up to three times. Throws {@link HostUnreachable} if the host does not reconnect within 15 s. */
export async function retryWhenHostReconnects<Answer>(
  gateway: Pick<HostGateway, 'waitForControlLink'>,
  hostId: string,
  command: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command()
    } catch (error) {
      const mayRetry = error instanceof HostUnreachable && attempt < attemptsMax
      if (!mayRetry || !(await gateway.waitForControlLink(hostId, reconnectTimeoutMs))) throw error
    }
  }
}

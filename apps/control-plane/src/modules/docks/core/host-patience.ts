/**
 * A command whose link broke under way is sent again when the host is soon back, as after a restart of its agent:
 * commands carry operation and generation, so a repeated one is joined, answered as before, or done now.
 */
import { type HostGateway, HostUnreachable } from '../../hosts/index.ts'

/** How long a host has to come back. */
export const patienceMs = 15_000
const attemptsMax = 3

/** Runs the command, up to three times. Throws {@link HostUnreachable} when the host does not come back in time. */
export async function whileHostReturns<Answer>(
  gateway: Pick<HostGateway, 'whenLinked'>,
  hostId: string,
  command: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await command()
    } catch (error) {
      const again = error instanceof HostUnreachable && attempt < attemptsMax
      if (!again || !(await gateway.whenLinked(hostId, patienceMs))) throw error
    }
  }
}

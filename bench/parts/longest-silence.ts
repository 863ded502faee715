/** Measures gaps between heartbeats. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from '../../tests/e2e/support/server.ts'

/** Returns the longest time between two heartbeats of the host while `work` runs. */
export async function longestSilenceMs({ client }: Server, work: Promise<unknown>): Promise<number> {
  let isOver = false
  const end = (): void => {
    isOver = true
  }
  // The caller of `work` handles its errors.
  work.then(end, end)
  const seen = new Set<number>()
  while (!isOver) {
    const [host] = await client.call('listHosts', {})
    if (host?.lastHeartbeatAt) seen.add(Date.parse(host.lastHeartbeatAt))
    await delay(200)
  }
  const times = [...seen].sort((a, b) => a - b)
  return Math.max(...times.slice(1).map((at, index) => at - times[index]!))
}

/**
 * Hosts on which a start failed a moment ago. A host with a broken runtime stays empty, so that placement would give it
 * every new Dock; it is avoided for some minutes, and taken only where no other has room. Kept in memory: each process
 * learns it from its own starts.
 */
import type { Clock } from '@dock/foundation'

const avoidForMs = 5 * 60_000

export type StartFailures = {
  failed(hostId: string): void
  /** A start came through: the host is as good as any. */
  succeeded(hostId: string): void
  /** Hosts to avoid now. */
  recent(): string[]
}

export function createStartFailures(clock: Clock): StartFailures {
  const failedAt = new Map<string, number>()
  return {
    failed: (hostId) => void failedAt.set(hostId, clock.now().getTime()),
    succeeded: (hostId) => void failedAt.delete(hostId),
    recent: () => {
      if (failedAt.size === 0) return []
      const since = clock.now().getTime() - avoidForMs
      for (const [hostId, at] of failedAt) if (at <= since) failedAt.delete(hostId)
      return [...failedAt.keys()]
    },
  }
}

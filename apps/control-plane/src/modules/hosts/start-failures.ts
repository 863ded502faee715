/**
 * Hosts on which a start failed recently. A host with a broken runtime stays empty, so placement would choose it for every
 * new Dock. Placement therefore avoids it for five minutes unless no other host has room. This state is in memory: each
 * process learns from its own starts.
 */
import type { Clock } from '@dock/foundation'

const avoidForMs = 5 * 60_000

export type StartFailures = {
  recordFailure(hostId: string): void
  /** A start succeeded: the host is no longer avoided. */
  forgetFailure(hostId: string): void
  /** Returns the hosts to avoid now. */
  hostsToAvoid(): string[]
}

export function createStartFailures(clock: Clock): StartFailures {
  const failedAt = new Map<string, number>()
  return {
    recordFailure: (hostId) => void failedAt.set(hostId, clock.now().getTime()),
    forgetFailure: (hostId) => void failedAt.delete(hostId),
    hostsToAvoid: () => {
      if (failedAt.size === 0) return []
      const since = clock.now().getTime() - avoidForMs
      for (const [hostId, at] of failedAt) if (at <= since) failedAt.delete(hostId)
      return [...failedAt.keys()]
    },
  }
}

/** Decides which new connections may begin to sign in, so that strangers cannot use up the control plane. */
import { limits } from '@dock/contract'

const {
  unauthenticatedMax,
  unauthenticatedPerAddressMax,
  unauthenticatedPerNetworkMax,
  connectionsPerUserMax,
} = limits.ssh

export type Admission = {
  /** Counts a connection that is not signed in. Returns null if there are too many, else a function that removes it. */
  enter(address: string, network: string): (() => void) | null
  /** Counts a signed-in connection. Returns null if the person has too many, else a function that removes it. */
  signIn(userId: string): (() => void) | null
}

const createCounter = () => {
  const counts = new Map<string, number>()
  return {
    of: (name: string): number => counts.get(name) ?? 0,
    add: (name: string): (() => void) => {
      counts.set(name, (counts.get(name) ?? 0) + 1)
      let isCounted = true
      return () => {
        if (!isCounted) return
        isCounted = false
        const rest = (counts.get(name) ?? 1) - 1
        if (rest === 0) counts.delete(name)
        else counts.set(name, rest)
      }
    },
  }
}

export function createAdmission(): Admission {
  let unauthenticated = 0
  const byAddress = createCounter()
  const byNetwork = createCounter()
  const byUser = createCounter()
  return {
    enter: (address, network) => {
      if (unauthenticated >= unauthenticatedMax) return null
      if (byAddress.of(address) >= unauthenticatedPerAddressMax) return null
      if (byNetwork.of(network) >= unauthenticatedPerNetworkMax) return null
      unauthenticated += 1
      const removals = [byAddress.add(address), byNetwork.add(network)]
      let isCounted = true
      return () => {
        for (const remove of removals) remove()
        if (isCounted) unauthenticated -= 1
        isCounted = false
      }
    },
    signIn: (userId) => (byUser.of(userId) >= connectionsPerUserMax ? null : byUser.add(userId)),
  }
}

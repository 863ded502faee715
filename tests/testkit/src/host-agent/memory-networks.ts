/** In-memory networks for tests. */
import { newUuid } from '@dock/foundation'
import type { DockNetwork, Networks } from '@dock/host-agent/src/network/networks.ts'

export type MemoryNetworks = Networks & {
  /** Makes the next call of this name throw the error. */
  failNext(call: keyof Networks, error: Error): void
}

export function createMemoryNetworks(): MemoryNetworks {
  const networks = new Map<string, DockNetwork>()
  const failures = new Map<string, Error>()
  let made = 0
  const reserved = new Set<string>()
  const create = async (dockId: string, netnsPath?: string): Promise<DockNetwork> => {
    const error = failures.get('create')
    failures.delete('create')
    if (error) throw error
    const known = networks.get(dockId)
    if (known) return known
    made += 1
    const network = {
      netnsPath: netnsPath && reserved.delete(netnsPath) ? netnsPath : `/memory/netns/${dockId}`,
      ip: `10.0.0.${made}`,
      ...{ gateway: '10.0.0.254', nameserver: '10.0.0.254' },
    }
    networks.set(dockId, network)
    return network
  }
  return {
    failNext: (call, error) => void failures.set(call, error),
    setUp: async () => undefined,
    create,
    destroy: async (dockId) => {
      const error = failures.get('destroy')
      failures.delete('destroy')
      if (error) throw error
      networks.delete(dockId)
    },
    reserve: async () => {
      const netnsPath = `/memory/netns/reserved-${newUuid()}`
      reserved.add(netnsPath)
      return netnsPath
    },
    release: async (netnsPath) => void reserved.delete(netnsPath),
    restore: create,
    find: (dockId) => networks.get(dockId) ?? null,
    traffic: async () => ({ rxBytes: 100, txBytes: 200 }),
    list: async () => [...networks.keys()],
    tearDown: async () => undefined,
  }
}

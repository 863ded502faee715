/** Measures fifty concurrent creates, and the longest time without a heartbeat meanwhile. All creates must succeed. */
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import { compare, type Figure } from '../figures.ts'
import { print, waitForWarmSandboxes, withServer } from './bench-server.ts'

const count = 50

export function benchBurst(): Promise<void> {
  return withServer({}, async (server) => {
    await waitForWarmSandboxes(server, 16)
    const burst: Figure = { name: `burst of ${count}`, samplesMs: [] }
    let silentMs = 0
    const watch = setInterval(async () => {
      const [host] = await server.client.call('listHosts', {})
      if (host?.lastHeartbeatAt) silentMs = Math.max(silentMs, Date.now() - Date.parse(host.lastHeartbeatAt))
    }, 500)
    const ids = await Promise.all(
      Array.from({ length: count }, async () => {
        const begin = performance.now()
        const { id } = await createDock(server, { cpus: 2, memoryMiB: 4096, diskGiB: 20 })
        await run(server, id, 'echo ready')
        burst.samplesMs.push(performance.now() - begin)
        return id
      }),
    ).finally(() => clearInterval(watch))
    print(
      `${compare(burst, undefined)}   all ${ids.length} ready; longest silence of the host ${silentMs} ms`,
    )
    for (const id of ids) await deleteDock(server, id)
  })
}

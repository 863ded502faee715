/** Measures idle Docks: memory per Dock, and CPU time of all. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createDock, deleteDock } from '../../tests/e2e/support/dock.ts'
import { print, withServer } from './bench-server.ts'
import { cpuSecondsOf } from './cpu-seconds.ts'
import { printMemory, proportionalMiB, sum } from './memory.ts'

const settleMs = 30_000
const watchMs = 30_000

const sandboxProcesses = async (dataDir: string): Promise<number[]> => {
  const found: number[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (line.includes('runsc') && line.includes(dataDir)) found.push(Number(entry))
  }
  return found
}

export function benchIdle(docks: number): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
    const ids: string[] = []
    for (let index = 0; index < docks; index++) ids.push((await createDock(server)).id)
    await delay(settleMs)
    const processes = await sandboxProcesses(server.dataDir)
    const memory = sum(await Promise.all(processes.map(proportionalMiB)))
    const before = sum(await Promise.all(processes.map(cpuSecondsOf)))
    await delay(watchMs)
    const used = sum(await Promise.all(processes.map(cpuSecondsOf))) - before
    const share = (used / (watchMs / 1000)) * 100
    print(
      `${docks} idle Docks: ${(memory / docks).toFixed(1)} MiB each, in total ${share.toFixed(1)} % of a core`,
    )
    await printMemory(server, `${docks} idle Docks`)
    for (const id of ids) await deleteDock(server, id)
  })
}

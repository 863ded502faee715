/** Measures creates from the warm pool: with a full warm pool each time, and in sequence without waiting. */
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import { compare, type Figure } from '../figures.ts'
import {
  type BenchServer,
  isHit,
  listWarmSandboxes,
  print,
  usualSize,
  waitForWarmSandboxes,
  withServer,
} from './bench-server.ts'
import { untilIdle } from './until-idle.ts'

const warmPoolSize = 16

const timed = async (
  server: BenchServer,
  waiting: readonly string[],
): Promise<{ ms: number; hit: boolean; id: string }> => {
  const begin = performance.now()
  const { id } = await createDock(server, usualSize)
  await run(server, id, 'echo ready')
  return { ms: performance.now() - begin, hit: isHit(waiting, id), id }
}

const share = (hits: Figure, misses: Figure): string => {
  const all = hits.samplesMs.length + misses.samplesMs.length
  return `${((hits.samplesMs.length / all) * 100).toFixed(0)} % hits`
}

const measure = async (
  server: BenchServer,
  name: string,
  count: number,
  next: () => Promise<string[]>,
): Promise<void> => {
  const hits: Figure = { name: `${name}, hits`, samplesMs: [] }
  const misses: Figure = { name: `${name}, misses`, samplesMs: [] }
  for (let index = 0; index < count; index++) {
    const { ms, hit, id } = await timed(server, await next())
    const figure = hit ? hits : misses
    figure.samplesMs.push(ms)
    await deleteDock(server, id)
  }
  print(`${compare(hits, undefined)}   ${share(hits, misses)}`)
  if (misses.samplesMs.length > 0) print(compare(misses, undefined))
}

export function benchWarm(options: { full: number; sequential: number }): Promise<void> {
  return withServer({ DOCK_WARM_POOL: String(warmPoolSize) }, async (server) => {
    await measure(server, 'warm tti, pool full', options.full, async () => {
      const waiting = await waitForWarmSandboxes(server, warmPoolSize)
      await untilIdle()
      return waiting
    })
    await waitForWarmSandboxes(server, warmPoolSize)
    await measure(server, 'sequential', options.sequential, () => listWarmSandboxes(server))
  })
}

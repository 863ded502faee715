/** Measures a Dock's lifecycle without a warm pool, and compares it with plain tools. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import { compare, type Figure, sample } from '../figures.ts'
import { type BenchServer, print, withServer } from './bench-server.ts'
import { ready, timeLives } from './lives.ts'
import { printMemory } from './memory.ts'
import { findServerProcesses, listProcesses } from './server-processes.ts'
import { untilIdle } from './until-idle.ts'

const raw = async (
  server: BenchServer,
  agent: number,
  { count, large }: { count: number; large: boolean },
): Promise<Map<string, Figure>> => {
  const host = join('/proc', String(agent), 'root', server.dataDir, 'host')
  const image = join(host, 'pool/images', server.admin.image, 'disk.raw')
  const args = [
    image,
    join(server.dataDir, 'host/bin/runsc'),
    server.dataDir,
    String(count),
    large ? 'large' : '',
  ]
  const bench = join(import.meta.dirname, '../raw')
  const { stdout } = await promisify(execFile)(bench, args, { maxBuffer: 16 * 1024 * 1024 })
  return new Map((JSON.parse(stdout) as Figure[]).map((figure) => [figure.name, figure]))
}

/** Runs eight commands concurrently, `count` times each. */
const execInParallel = async (server: BenchServer, count: number): Promise<Figure> => {
  const docks = await Promise.all([createDock(server), createDock(server)])
  const figures = await Promise.all(
    Array.from({ length: 8 }, (_, lane) =>
      sample('', count, async () => {
        await run(server, docks[lane % 2]!.id, 'true')
      }),
    ),
  )
  for (const { id } of docks) await deleteDock(server, id)
  return { name: 'exec, 8 at once', samplesMs: figures.flatMap(({ samplesMs }) => samplesMs) }
}

/** With `large`, also measures disks with 5 GB. */
export function benchCold(options: {
  ttis: number
  execs: number
  count: number
  large: boolean
}): Promise<void> {
  return withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
    const { ttis, execs, count, large } = options
    await printMemory(server, 'just started')
    const figures: Figure[] = []
    const keep = (...more: Figure[]): void => {
      figures.push(...more)
      for (const figure of more) print(compare(figure, undefined))
    }
    const tti: Figure = { name: 'tti', samplesMs: [] }
    for (let index = 0; index < ttis; index++) {
      const begin = performance.now()
      const { id } = await createDock(server)
      await run(server, id, ready)
      tti.samplesMs.push(performance.now() - begin)
      await deleteDock(server, id)
    }
    keep(tti)
    const { id } = await createDock(server)
    await untilIdle()
    keep(
      await sample('exec', execs, async () => {
        await run(server, id, 'true')
      }),
    )
    await deleteDock(server, id)
    keep(await execInParallel(server, count))
    keep(...(await timeLives(server, count, large)))
    const { agent } = findServerProcesses(await listProcesses(), server.pid)
    await printMemory(server, 'after these')
    const byHand = await raw(server, agent, options)
    print('compared with plain tools:')
    for (const figure of figures) print(compare(figure, byHand.get(figure.name)))
    // The transport alone. For eight concurrent commands, the time is until the last has ended.
    for (const name of ['exec-socket', 'exec-socket-8']) {
      const socket = byHand.get(name)
      if (socket) print(compare({ ...socket, name: `raw ${name}` }, undefined))
    }
  })
}

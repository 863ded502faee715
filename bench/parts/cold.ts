/** A Dock's life with the pool off, beside the same by hand. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import { compare, type Figure, sample } from '../figures.ts'
import { type BenchServer, print, processOf, untilGone, withServer } from './bench-server.ts'
import { printMemory } from './memory.ts'
import { untilIdle } from './until-idle.ts'

const raw = async (server: BenchServer, agent: number, count: number): Promise<Map<string, Figure>> => {
  const host = join('/proc', String(agent), 'root', server.dataDir, 'host')
  const image = join(host, 'pool/images', server.admin.image, 'disk.raw')
  const args = [image, join(server.dataDir, 'host/bin/runsc'), server.dataDir, String(count)]
  const bench = join(import.meta.dirname, '../raw')
  const { stdout } = await promisify(execFile)(bench, args, { maxBuffer: 16 * 1024 * 1024 })
  return new Map((JSON.parse(stdout) as Figure[]).map((figure) => [figure.name, figure]))
}

const write50 = 'head -c 50000000 /dev/urandom > data'
const write5000 = `perl -e 'print "x" x 1_000_000 for 1 .. 5_000' > more && sync more`
const ready = 'echo ready'

type Making = () => Promise<{ id: string }>

/** Times `work` on a Dock that is made and prepared before and deleted after each sample, neither counted. */
const sampleOnDock = async (
  server: BenchServer,
  make: Making,
  name: string,
  count: number,
  prepare: (id: string) => Promise<unknown>,
  work: (id: string) => Promise<string | undefined>,
): Promise<Figure> => {
  const samplesMs: number[] = []
  for (let index = 0; index < count; index++) {
    const { id } = await make()
    await prepare(id)
    const begin = performance.now()
    const another = await work(id)
    samplesMs.push(performance.now() - begin)
    if (another) await deleteDock(server, another)
    await deleteDock(server, id)
  }
  return { name, samplesMs }
}

const lives = (server: BenchServer, make: Making, count: number, suffix = '') => {
  const { client } = server
  const stop = (id: string) => client.call('stopDock', { params: { id }, body: {} })
  const begin = (id: string) => run(server, id, write50)
  const onDock = sampleOnDock.bind(undefined, server, make)
  return [
    () =>
      onDock(`stop${suffix}`, count, begin, async (dock) => {
        await stop(dock)
        return undefined
      }),
    () =>
      onDock(
        `resume${suffix}`,
        count,
        async (dock) => {
          await begin(dock)
          await stop(dock)
          await untilGone(server, dock)
        },
        async (dock) => {
          await client.call('resumeDock', { params: { id: dock }, body: {} })
          await run(server, dock, ready)
          return undefined
        },
      ),
    () =>
      onDock(`branch${suffix}`, count, begin, async (dock) => {
        const branch = await client.call('branchDock', { params: { id: dock }, body: {} })
        await run(server, branch.id, ready)
        return branch.id
      }),
  ]
}

/** Eight commands at once, until `count` of each have run. */
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

/** `large`: the same on disks that hold 5 GB besides. */
export const benchCold = (options: {
  ttis: number
  execs: number
  count: number
  large: boolean
}): Promise<void> =>
  withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
    const { ttis, execs, count } = options
    const { client } = server
    await printMemory(server, 'just started')
    const figures: Figure[] = []
    const tti: Figure = { name: 'tti', samplesMs: [] }
    for (let index = 0; index < ttis; index++) {
      const begin = performance.now()
      const { id } = await createDock(server)
      await run(server, id, ready)
      tti.samplesMs.push(performance.now() - begin)
      await deleteDock(server, id)
    }
    figures.push(tti)
    const { id } = await createDock(server)
    await untilIdle()
    figures.push(
      await sample('exec', execs, async () => {
        await run(server, id, 'true')
      }),
    )
    await deleteDock(server, id)
    figures.push(await execInParallel(server, count))
    const make = () => createDock(server, { diskGiB: 8 })
    for (const life of lives(server, make, count)) figures.push(await life())
    if (options.large) {
      const holder = await make()
      await run(server, holder.id, write5000, { timeoutSeconds: 300 })
      const makeLarge = () => client.call('branchDock', { params: { id: holder.id }, body: {} })
      for (const life of lives(server, makeLarge, count, ', 5 GB')) figures.push(await life())
      await deleteDock(server, holder.id)
    }
    const agent = await processOf('apps/host-agent/src/main.ts', String(server.port))
    await printMemory(server, 'after these')
    const byHand = await raw(server, agent, count)
    for (const figure of figures) print(compare(figure, byHand.get(figure.name)))
    // What the transport alone takes; eight at once are timed until the last of them has ended.
    for (const name of ['exec-socket', 'exec-socket-8']) {
      const socket = byHand.get(name)
      if (socket) print(compare({ ...socket, name: `raw ${name}` }, undefined))
    }
  })

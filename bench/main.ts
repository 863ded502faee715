/**
 * What the service costs, beside the same work by hand in the same run. TTI follows the ComputeSDK protocol: create and
 * first exec of `echo ready`, timed from before the request to the answer, each Dock deleted before the next.
 */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createDock, deleteDock, run } from '../tests/e2e/support/dock.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../tests/e2e/support/server.ts'
import { compare, type Figure, sample } from './figures.ts'

const ttiCount = Number(process.env.DOCK_BENCH_TTI ?? '100')
const count = Number(process.env.DOCK_BENCH_COUNT ?? '20')

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

/** Process id of the program whose command line holds `main` and whose environment holds `mark`. */
const processOf = async (main: string, mark: string): Promise<number> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (!line.includes(main) || !line.split('\0')[0]?.endsWith('node')) continue
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '')
    if (environment.includes(mark)) return Number(entry)
  }
  throw new Error(`no process of ${main}`)
}

const residentMiB = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
}

const raw = async (server: Server, agent: number): Promise<Map<string, Figure>> => {
  const host = join('/proc', String(agent), 'root', server.dataDir, 'host')
  const image = join(host, 'pool/images', server.admin.image, 'disk.raw')
  const args = [image, join(server.dataDir, 'host/bin/runsc'), server.dataDir, String(count)]
  const bench = join(import.meta.dirname, 'raw')
  const { stdout } = await promisify(execFile)(bench, args, { maxBuffer: 16 * 1024 * 1024 })
  return new Map((JSON.parse(stdout) as Figure[]).map((figure) => [figure.name, figure]))
}

const write50 = 'head -c 50000000 /dev/urandom > data'

/** Times `work` on a Dock that is made and prepared before and deleted after each sample, neither counted. */
const sampleOnDock = async (
  server: Server,
  name: string,
  prepare: (id: string) => Promise<unknown>,
  work: (id: string) => Promise<string | undefined>,
): Promise<Figure> => {
  const samplesMs: number[] = []
  for (let index = 0; index < count; index++) {
    const { id } = await createDock(server)
    await prepare(id)
    const begin = performance.now()
    const another = await work(id)
    samplesMs.push(performance.now() - begin)
    if (another) await deleteDock(server, another)
    await deleteDock(server, id)
  }
  return { name, samplesMs }
}

const measure = async (server: Server): Promise<Figure[]> => {
  const { client } = server
  const stop = (id: string) => client.call('stopDock', { params: { id }, body: {} })
  const resume = (id: string) => client.call('resumeDock', { params: { id }, body: {} })
  const tti: Figure = { name: 'tti', samplesMs: [] }
  for (let index = 0; index < ttiCount; index++) {
    const begin = performance.now()
    const { id } = await createDock(server)
    await run(server, id, 'echo ready')
    tti.samplesMs.push(performance.now() - begin)
    await deleteDock(server, id)
  }
  const { id } = await createDock(server)
  const exec = await sample('exec', count * 2, async () => {
    await run(server, id, 'true')
  })
  await deleteDock(server, id)
  const stopped = await sampleOnDock(
    server,
    'stop',
    (dock) => run(server, dock, write50),
    async (dock) => {
      await stop(dock)
      return undefined
    },
  )
  const resumed = await sampleOnDock(server, 'resume', stop, async (dock) => {
    await resume(dock)
    await run(server, dock, 'echo ready')
    return undefined
  })
  const branched = await sampleOnDock(
    server,
    'branch',
    (dock) => run(server, dock, write50),
    async (dock) => {
      const branch = await client.call('branchDock', { params: { id: dock }, body: {} })
      await run(server, branch.id, 'echo ready')
      return branch.id
    },
  )
  return [tti, exec, stopped, resumed, branched]
}

const dataDir = await newDataDir()
const port = await freePort()
const server = await startServer(dataDir, port)
try {
  const figures = await measure(server)
  const agent = await processOf('apps/host-agent/src/main.ts', String(port))
  const control = await processOf('apps/control-plane/src/main.ts', String(port))
  const byHand = await raw(server, agent)
  for (const figure of figures) print(compare(figure, byHand.get(figure.name)))
  print(
    `memory: control plane ${(await residentMiB(control)).toFixed(0)} MiB, agent ${(await residentMiB(agent)).toFixed(0)} MiB`,
  )
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
}

/** Measures stop, resume and branch, each on a new Dock. */
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import type { Figure } from '../figures.ts'
import { type BenchServer, untilGone } from './bench-server.ts'

const write50 = 'head -c 50000000 /dev/urandom > data'
const write5000 = `perl -e 'print "x" x 1_000_000 for 1 .. 5_000' > more && sync more`

export const ready = 'echo ready'

/** A kind of Dock to start with, and the suffix of its figures' names. */
type Kind = { suffix: string; make: () => Promise<{ id: string }> }

/** `prepare` is not timed. `work` returns the id of another Dock if it created one. */
type Life = {
  name: string
  prepare: (server: BenchServer, id: string) => Promise<unknown>
  work: (server: BenchServer, id: string) => Promise<string | undefined>
}

const stop = async ({ client }: BenchServer, id: string): Promise<undefined> => {
  await client.call('stopDock', { params: { id }, body: {} })
}

const lives: readonly Life[] = [
  { name: 'stop', prepare: (server, id) => run(server, id, write50), work: stop },
  {
    name: 'resume',
    prepare: async (server, id) => {
      await run(server, id, write50)
      await stop(server, id)
      await untilGone(server, id)
    },
    work: async (server, id) => {
      await server.client.call('resumeDock', { params: { id }, body: {} })
      await run(server, id, ready)
      return undefined
    },
  },
  {
    name: 'branch',
    prepare: (server, id) => run(server, id, write50),
    work: async (server, id) => {
      const branch = await server.client.call('branchDock', { params: { id }, body: {} })
      await run(server, branch.id, ready)
      return branch.id
    },
  },
]

const timed = async (server: BenchServer, { prepare, work }: Life, { make }: Kind): Promise<number> => {
  const { id } = await make()
  await prepare(server, id)
  const begin = performance.now()
  const another = await work(server, id)
  const ms = performance.now() - begin
  for (const each of another ? [another, id] : [id]) await deleteDock(server, each)
  return ms
}

/**
 * Measures each step `count` times. With `large`, alternates with disks that have 5 GB, so that changes of the
 * machine's load affect both.
 */
export async function timeLives(server: BenchServer, count: number, large: boolean): Promise<Figure[]> {
  const make = () => createDock(server, { diskGiB: 8 })
  const kinds: Kind[] = [{ suffix: '', make }]
  const holder = large ? await make() : undefined
  if (holder) {
    await run(server, holder.id, write5000, { timeoutSeconds: 300 })
    kinds.push({
      suffix: ', 5 GB',
      make: () => server.client.call('branchDock', { params: { id: holder.id }, body: {} }),
    })
  }
  const figures: Figure[] = []
  for (const life of lives) {
    const ofLife = kinds.map((kind) => ({
      kind,
      name: `${life.name}${kind.suffix}`,
      samplesMs: [] as number[],
    }))
    for (let index = 0; index < count; index++)
      for (const { kind, samplesMs } of ofLife) samplesMs.push(await timed(server, life, kind))
    figures.push(...ofLife)
  }
  if (holder) await deleteDock(server, holder.id)
  return figures
}

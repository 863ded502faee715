/**
 * The blocks of a round. Each makes a few requests to one server. A round makes eight Docks and takes them through their
 * life, because Docks of the same kind differ for their whole life: the fastest runs a command in 15.6 ms, the slowest in 19.8.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  isHit,
  listWarmSandboxes,
  untilGone,
  usualSize,
  waitForWarmSandboxes,
} from '../parts/bench-server.ts'
import { createDock, deleteDock, exec, type Side } from './side.ts'

/** Durations in milliseconds, by the name of their line. */
export type Samples = Record<string, number[]>

export type Block = {
  /** The line that shows the block's costs. */
  costsOf: string
  /** Requests among which the costs are divided. */
  requests: number
  /** Not measured. */
  prepare?: (side: Side) => Promise<unknown>
  work: (side: Side) => Promise<Samples>
}

export const docksInRound = 8

const smallSize = { cpus: 1, memoryMiB: 1024, diskGiB: 2 }
const ready = 'echo ready'
const write50 = 'head -c 50000000 /dev/urandom > data'
const idleMs = 2_000

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Times `work` for each Dock of the round, one after the other, `turns` times. */
const timeDocks = async (
  { docks }: Side,
  turns: number,
  work: (id: string) => Promise<unknown>,
): Promise<number[]> => {
  const samples: number[] = []
  for (let turn = 0; turn < turns; turn++) for (const id of docks) samples.push(await timed(() => work(id)))
  return samples
}

const eachDock = (side: Side, command: string): Promise<unknown> =>
  timeDocks(side, 1, (id) => exec(side, id, command))

/** A sample is the time of `batch` requests over these connections, divided by their number. */
const readMe = (connections: number, batch: number): Block => {
  const name = `GET /v1/me, ${connections} connection${connections > 1 ? 's' : ''}`
  const batches = 8
  const runBatch = async ({ client }: Side): Promise<void> => {
    let left = batch
    const lane = async (): Promise<void> => {
      while (left-- > 0) await client.call('GET', '/v1/me')
    }
    await Promise.all(Array.from({ length: connections }, lane))
  }
  return {
    costsOf: name,
    requests: batches * batch,
    prepare: runBatch,
    work: async (side) => {
      const samples: number[] = []
      for (let index = 0; index < batches; index++) samples.push((await timed(() => runBatch(side))) / batch)
      return { [name]: samples }
    },
  }
}

/** Times a request that makes or boots a Dock, and the first command in it. `begin` returns the Dock's id. */
const timeBoots = async (
  side: Side,
  name: string,
  begins: readonly (() => Promise<string>)[],
): Promise<Samples> => {
  const [requests, first, both]: [number[], number[], number[]] = [[], [], []]
  for (const begin of begins) {
    const at = performance.now()
    const id = await begin()
    const answered = performance.now()
    await exec(side, id, ready)
    const end = performance.now()
    requests.push(answered - at)
    first.push(end - answered)
    both.push(end - at)
  }
  return { [name]: requests, [`first exec after ${name}`]: first, [`${name} and first exec`]: both }
}

const boots = (
  name: string,
  parts: { prepare?: Block['prepare']; begin: (side: Side, index: number) => Promise<string> },
): Block => ({
  costsOf: `${name} and first exec`,
  requests: docksInRound,
  ...(parts.prepare && { prepare: parts.prepare }),
  work: (side) =>
    timeBoots(
      side,
      name,
      Array.from({ length: docksInRound }, (_, index) => () => parts.begin(side, index)),
    ),
})

const execTurns = 2
const execs = (name: string, newKey: () => string | undefined): Block => ({
  costsOf: name,
  requests: execTurns * docksInRound,
  prepare: (side) => eachDock(side, 'true'),
  work: async (side) => ({
    [name]: await timeDocks(side, execTurns, (id) => exec(side, id, 'true', newKey())),
  }),
})

const atOnceTurns = 8

/** What a server uses while nobody asks anything of it, for each second. */
export const idleLine = 'idle, one second'

/** The blocks of one round without a warm pool, in this order. */
export const lifeBlocks: readonly Block[] = [
  {
    costsOf: idleLine,
    requests: idleMs / 1000,
    work: async () => {
      await delay(idleMs)
      return {}
    },
  },
  readMe(1, 60),
  readMe(8, 200),
  readMe(50, 500),
  boots('create', {
    begin: async (side) => {
      const { id } = await createDock(side, smallSize)
      side.docks.push(id)
      return id
    },
  }),
  execs('exec', () => undefined),
  execs('exec with a key', randomUUID),
  {
    costsOf: 'exec, 8 at once, until the last has ended',
    requests: atOnceTurns * docksInRound,
    prepare: (side) => eachDock(side, 'true'),
    work: async (side) => {
      const samples: number[] = []
      for (let turn = 0; turn < atOnceTurns; turn++)
        samples.push(await timed(() => Promise.all(side.docks.map((id) => exec(side, id, 'true')))))
      return { 'exec, 8 at once, until the last has ended': samples }
    },
  },
  {
    costsOf: 'stop',
    requests: docksInRound,
    prepare: (side) => eachDock(side, write50),
    work: async (side) => ({
      stop: await timeDocks(side, 1, (id) => side.client.call('POST', `/v1/docks/${id}/stop`, {})),
    }),
  },
  boots('resume', {
    prepare: (side) => timeDocks(side, 1, (id) => untilGone(side.server, id)),
    begin: async ({ client, docks }, index) => {
      await client.call('POST', `/v1/docks/${docks[index]}/resume`, {})
      return docks[index]!
    },
  }),
  boots('branch', {
    prepare: (side) => eachDock(side, write50),
    begin: async ({ client, docks }, index) => {
      const { id } = await client.call<{ id: string }>('POST', `/v1/docks/${docks[index]}/branch`, {})
      docks.push(id)
      return id
    },
  }),
  {
    costsOf: 'delete, until completed',
    requests: 2 * docksInRound,
    work: async (side) => {
      const samples = await timeDocks(side, 1, (id) => deleteDock(side, id))
      side.docks = []
      return { 'delete, until completed': samples }
    },
  },
]

export const warmPoolSize = 16

/** Creates of the usual size while the pool is full. Creates that do not hit the pool give no sample. */
export const warmBlock: Block = {
  costsOf: 'warm create and first exec',
  requests: docksInRound,
  prepare: async (side) => {
    for (const id of side.docks.splice(0)) await deleteDock(side, id)
    await waitForWarmSandboxes(side.server, warmPoolSize)
  },
  work: async (side) => {
    const waiting = await listWarmSandboxes(side.server)
    const samples = await timeBoots(
      side,
      'warm create',
      Array.from({ length: docksInRound }, () => async () => {
        const { id } = await createDock(side, usualSize)
        side.docks.push(id)
        return id
      }),
    )
    const hits = side.docks.map((id) => isHit(waiting, id))
    return Object.fromEntries(
      Object.entries(samples).map(([name, values]) => [name, values.filter((_, index) => hits[index])]),
    )
  },
}

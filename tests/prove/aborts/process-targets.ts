/** Commands and processes of running Docks: their results, output, input and ends. */
import type { Random } from './random.ts'
import type { Framing, RawRequest } from './raw-request.ts'
import { httpTarget, type Target, withKey } from './target.ts'
import type { World } from './world.ts'

const framings: readonly Framing[] = ['length', 'length', 'chunked', 'damaged', 'short']

const json = (value: object): Pick<RawRequest, 'body'> => ({
  body: { bytes: Buffer.from(JSON.stringify(value)), framing: 'length' },
})

const commands = [
  'true',
  'echo out; echo err >&2',
  'head -c 900000 /dev/zero | tr "\\0" x',
  'sleep 0.2',
  'cat; exit 3',
  'seq 100000',
]

const exec = (world: World, random: Random): RawRequest => ({
  method: 'POST',
  path: `/v1/docks/${random.pick(world.machines).id}/exec`,
  headers: {
    ...{ ...withKey(world), 'content-type': 'application/json' },
    ...(random.chance(0.5) ? { 'x-dock-cancel-on-disconnect': 'true' } : {}),
  },
  ...json({ command: random.pick(commands), timeoutSeconds: 20 }),
})

const output = (world: World, random: Random): RawRequest => {
  const { id, writer, holder, shell } = random.pick(world.machines)
  const pid = random.pick([writer, holder, holder, shell])
  const query = `stream=${random.pick(['stdout', 'stdout', 'both', 'stderr'])}&follow=true&offset=${random.below(3) * 1000}`
  return {
    ...{ method: 'GET', path: `/v1/docks/${id}/processes/${pid}/output?${query}`, headers: withKey(world) },
    isEndless: true,
  }
}

const keptOutput = (world: World, random: Random): RawRequest => {
  const { id, holder } = random.pick(world.machines)
  const query = `stream=${random.pick(['stdout', 'both'])}&offset=${random.below(3e6)}`
  return {
    method: 'GET',
    path: `/v1/docks/${id}/processes/${holder}/output?${query}`,
    headers: withKey(world),
  }
}

/** Each goes to a process of its own, because an offset beyond the last byte is refused. */
const input = async (world: World, random: Random): Promise<RawRequest> => {
  const { id } = random.pick(world.machines)
  const command = random.pick(['cat >/dev/null', 'cat', 'head -c 50000 >/dev/null', 'sleep 3'])
  // Some refuse all input.
  const body = { command, timeoutSeconds: 5, stdin: random.chance(0.85) }
  const { id: pid } = await world.server.client.call('startDockProcess', { params: { id }, body })
  return {
    ...{ method: 'POST', path: `/v1/docks/${id}/processes/${pid}/stdin?offset=0`, headers: withKey(world) },
    body: { bytes: Buffer.alloc(random.below(400_000), 'line\n'), framing: random.pick(framings) },
    isEndless: command === 'sleep 3',
  }
}

const wait = (world: World, random: Random): RawRequest => {
  const { id, writer } = random.pick(world.machines)
  const seconds = random.below(2)
  return {
    ...{ method: 'GET', path: `/v1/docks/${id}/processes/${writer}/wait?timeoutSeconds=${seconds}` },
    headers: withKey(world),
  }
}

export const processTargets: readonly Target[] = [
  httpTarget({ name: 'exec', weight: 5, atOnceMax: 3, request: exec }),
  httpTarget({
    ...{ name: 'process output, followed', weight: 6, routes: ['readDockProcessOutput'], atOnceMax: 8 },
    request: output,
  }),
  httpTarget({ name: 'process output', weight: 5, atOnceMax: 6, request: keptOutput }),
  httpTarget({
    ...{ name: 'process input', weight: 5, routes: ['writeDockProcessInput'], atOnceMax: 6 },
    request: input,
  }),
  httpTarget({ name: 'process wait', weight: 2, atOnceMax: 4, request: wait }),
]

/** Hosted ports: responses and request bodies of a program in a Dock, and its upgrades. */
import type { Random } from './random.ts'
import type { Framing, RawRequest } from './raw-request.ts'
import { httpTarget, type Target } from './target.ts'
import { brokenFrame, frameOf, opcodes, upgradeHeaders } from './web-socket-frames.ts'
import type { World } from './world.ts'

const framings: readonly Framing[] = ['length', 'length', 'chunked', 'damaged', 'short']
const paths = [
  '/bytes/20000000',
  '/bytes/20000000',
  '/bytes/3000',
  '/chunks/500',
  '/slow/30',
  '/part/90000',
  '/broken',
  '/nothing',
  '/hello',
]

const hosted = (world: World, random: Random) => ({ host: random.pick(world.machines).portHost })

const read = (world: World, random: Random): RawRequest => ({
  ...{ method: 'GET', path: random.pick(paths), ...hosted(world, random) },
})

const write = (world: World, random: Random): RawRequest => ({
  ...{
    method: 'POST',
    path: random.pick(['/echo', '/echo', '/sink', '/early', '/nothing']),
    ...hosted(world, random),
  },
  body: { bytes: Buffer.alloc(random.below(600_000), 'echo\n'), framing: random.pick(framings) },
})

const upgrade = (world: World, random: Random): RawRequest => ({
  ...{
    method: 'GET',
    path: random.pick(['/echo', '/bytes/20000', '/reset', '/refuse']),
    ...hosted(world, random),
  },
  headers: upgradeHeaders,
  frames: Array.from({ length: random.below(5) }, () =>
    random.chance(0.7) ? frameOf(opcodes.binary, Buffer.alloc(random.below(60_000))) : brokenFrame(random),
  ),
  isEndless: true,
})

export const portTargets: readonly Target[] = [
  httpTarget({ name: 'hosted port', weight: 9, request: read }),
  httpTarget({ name: 'hosted port, with a body', weight: 5, request: write }),
  httpTarget({ name: 'hosted port, upgraded', weight: 4, request: upgrade }),
]

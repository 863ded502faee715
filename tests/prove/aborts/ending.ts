/** How a client leaves: where it stops to send, how much it reads, and how it closes its connection. */
import type { Random } from './random.ts'
import type { RawRequest } from './raw-request.ts'

export type Ending = {
  name: string
  /** HEAD is asked for instead of GET. */
  isHead: boolean
  /** The request breaks in this part, after this share of its bytes. Null: it is sent whole. */
  cut: { part: 'head' | 'body'; share: number } | null
  /** Bytes of the response that are read. Infinite: all. */
  readMax: number
  /** After that, nothing is read for this time. */
  pauseMs: number
  /** A second request follows the first at once. */
  isDoubled: boolean
  /** `half-close` goes on to read until the end. */
  last: 'finish' | 'reset' | 'destroy' | 'half-close'
}

const whole = { isHead: false, cut: null, readMax: 0, pauseMs: 0, isDoubled: false } as const
const amount = (random: Random): number =>
  random.pick([
    1,
    1 + random.below(16),
    random.below(400),
    random.below(4_000),
    random.below(70_000),
    random.below(3e6),
  ])
const departure = (random: Random): 'reset' | 'destroy' => (random.chance(0.75) ? 'reset' : 'destroy')
const all = Number.POSITIVE_INFINITY

type Kind = { name: string; weight: number; make(random: Random): Partial<Ending> }
const kinds: readonly Kind[] = [
  { name: 'finish', weight: 16, make: () => ({ readMax: all, last: 'finish' }) },
  {
    name: 'read, then leave',
    weight: 26,
    make: (random) => ({ readMax: amount(random), last: departure(random) }),
  },
  {
    name: 'read, then half-close',
    weight: 8,
    make: (random) => ({ readMax: amount(random), last: 'half-close' }),
  },
  { name: 'half-close', weight: 6, make: () => ({ last: 'half-close' }) },
  {
    name: 'leave before the response',
    weight: 8,
    make: (random) => ({ pauseMs: random.pick([0, 1, 3, 10, random.below(60)]), last: departure(random) }),
  },
  {
    name: 'stop to read, then leave',
    weight: 8,
    make: (random) => ({ readMax: 1, pauseMs: 20 + random.below(250), last: departure(random) }),
  },
  {
    name: 'send twice, then leave',
    weight: 5,
    make: (random) => ({ isDoubled: true, readMax: amount(random), last: departure(random) }),
  },
  {
    name: 'break off the head',
    weight: 3,
    make: (random) => ({
      ...{ cut: { part: 'head', share: random.below(1000) / 1000 }, pauseMs: random.below(20) },
      last: random.pick(['reset', 'destroy', 'half-close'] as const),
    }),
  },
]
const ofHead: Kind = {
  name: 'HEAD',
  weight: 20,
  make: (random) => ({
    isHead: true,
    readMax: random.chance(0.6) ? all : 1,
    last: random.pick(['finish', 'reset', 'half-close']),
  }),
}
const ofBody: Kind = {
  name: 'break off the body',
  weight: 25,
  make: (random) => ({
    ...{
      cut: { part: 'body', share: random.below(1000) / 1000 },
      pauseMs: random.pick([0, 0, 2, random.below(80)]),
    },
    last: random.pick(['reset', 'reset', 'destroy', 'half-close'] as const),
  }),
}

/** Picks an ending that fits the request. */
export function pickEnding(random: Random, request: RawRequest): Ending {
  const fitting = [...kinds]
  if (request.method === 'GET' && !request.frames) fitting.push(ofHead)
  if (request.body) fitting.push(ofBody)
  const { name, make } = random.weighted(fitting)
  return { ...whole, name, last: 'reset', ...make(random) }
}

/** Returns an ending that sends a part of the request, and stays for longer than the service waits for the rest. */
export function holdingEnding(random: Random, { body }: RawRequest): Ending {
  const cut = { part: body ? 'body' : 'head', share: random.below(1000) / 1000 } as const
  const pauseMs = random.pick([20_000, 59_000 + random.below(3_000), 62_000 + random.below(15_000)])
  const last = random.pick(['reset', 'destroy', 'half-close'] as const)
  return { ...whole, name: 'hold', cut, pauseMs, last }
}

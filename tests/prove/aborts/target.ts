/** What the fuzz sends requests to, and which routes of the contract that covers. */
import { type Route, type RouteName, routes } from '@dock/contract'
import { holdingEnding, pickEnding } from './ending.ts'
import { exchange, type Heard } from './exchange.ts'
import type { Random } from './random.ts'
import type { RawRequest } from './raw-request.ts'
import type { World } from './world.ts'

/** `what` describes the request and how it ended, for reports. */
export type Attempt = Heard & { ending: string; what?: string }

export type Target = {
  name: string
  weight: number
  /** Streamed and raw routes of the contract that it covers. */
  routes?: readonly RouteName[]
  /** At most so many attempts at the same time, because the service refuses more. */
  atOnceMax?: number
  attempt(world: World, random: Random): Promise<Attempt>
  /** Makes an attempt that keeps the service waiting for a minute. */
  hold?(world: World, random: Random): Promise<Attempt>
}

export type HttpTarget = Omit<Target, 'attempt' | 'hold'> & {
  request(world: World, random: Random): RawRequest | Promise<RawRequest>
}

/** Makes a target whose HTTP requests each get their own ending. */
export function httpTarget({ request, ...rest }: HttpTarget): Target {
  const attemptWith =
    (pick: typeof pickEnding): Target['attempt'] =>
    async (world, random) => {
      const made = await request(world, random)
      const ending = pick(random, made)
      const heard = await exchange(world.port, made, ending, random)
      const { method, path, body, headers } = made
      const sent = body && `${body.bytes.length} bytes by ${body.framing}`
      const what = [method, path, headers?.range, headers?.accept, sent, JSON.stringify(ending)].filter(
        Boolean,
      )
      return { ...heard, ending: ending.name, what: what.join(' ') }
    }
  return { ...rest, attempt: attemptWith(pickEnding), hold: attemptWith(holdingEnding) }
}

const isStreamed = ({ responseKind, requestKind, streamedList, streamedField }: Route): boolean =>
  (responseKind ?? 'json') !== 'json' ||
  requestKind === 'raw' ||
  streamedList === true ||
  streamedField !== undefined

/** Returns the raw, streamed and upgraded routes of the contract that no target covers. */
export function uncoveredRoutes(targets: readonly Target[]): RouteName[] {
  const covered = new Set(targets.flatMap((target) => target.routes ?? []))
  const all = Object.entries<Route>(routes) as [RouteName, Route][]
  return all.filter(([name, route]) => isStreamed(route) && !covered.has(name)).map(([name]) => name)
}

/** The header of the person's API key. */
export function withKey({ server }: World): Record<string, string> {
  return { authorization: `Bearer ${server.admin.apiKey}` }
}

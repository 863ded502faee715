/** Makes the attempts of a seed, several at the same time, and counts what came of them. */
import { DockApiError } from '@dock/sdk'
import { createRandom } from './random.ts'
import type { Target } from './target.ts'
import type { World } from './world.ts'

export type Count = {
  sent: number
  begun: number
  refused: number
  unheard: number
  other: Record<string, number>
}

export type Report = {
  /** Attempts that were not refused for a limit. */
  sent: number
  /** Attempts whose response began with a success, or with another protocol. */
  begun: number
  /** Attempts that kept the service waiting. */
  held: number
  counts: Map<string, Count>
  /** Attempts that ended as none may, as a line each. */
  wrong: string[]
  /** The latest attempts, for a report of what a process ended by. */
  latest: string[]
}

export type Fuzz = {
  world: World
  targets: readonly Target[]
  count: number
  seed: number
  atOnce: number
  /** Besides, so many attempts keep the service waiting at any time. */
  holding?: number
  /** Called before each attempt. If it returns true, no more are made. */
  isOver(made: number): boolean
}

const latestMax = 24
const isSuccess = (status: number): boolean => status === 101 || (status >= 200 && status < 300)

/** A number of places. */
class Places {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  get areFree(): boolean {
    return this.#free > 0
  }

  /** Waits for a place. Returns a function that leaves it. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free += 1
    }
  }
}

export async function fuzzAborts({
  world,
  targets,
  count,
  seed,
  atOnce,
  holding = 0,
  isOver,
}: Fuzz): Promise<Report> {
  const report: Report = { sent: 0, begun: 0, held: 0, counts: new Map(), wrong: [], latest: [] }
  const places = new Map(targets.map((target) => [target, new Places(target.atOnceMax ?? atOnce)]))
  for (const { name } of targets)
    report.counts.set(name, { sent: 0, begun: 0, refused: 0, unheard: 0, other: {} })

  const note = (what: string): void => {
    report.latest.push(what)
    if (report.latest.length > latestMax) report.latest.shift()
  }

  const attempt = async (at: number): Promise<void> => {
    const random = createRandom(seed * 1_000_003 + at)
    // A target that a Dock serves slowly must not hold up the others.
    const free = targets.filter((each) => places.get(each)!.areFree)
    const target = random.weighted(free.length > 0 ? free : targets)
    const counted = report.counts.get(target.name)!
    const leave = await places.get(target)!.take()
    const begin = performance.now()
    try {
      const { status, isStuck, ending, said, what } = await target.attempt(world, random)
      note(`${at} ${target.name}: ${ending}, ${status ?? 'nothing heard'}`)
      if (status === 429) {
        counted.refused += 1
        return
      }
      counted.sent += 1
      report.sent += 1
      if (status === null) counted.unheard += 1
      else if (isSuccess(status)) {
        counted.begun += 1
        report.begun += 1
      } else counted.other[status] = (counted.other[status] ?? 0) + 1
      const seconds = Math.round((performance.now() - begin) / 1000)
      if (isStuck)
        report.wrong.push(
          `${at} ${target.name}: ${ending}: stuck after ${seconds} s, status ${status}: ${what}`,
        )
      if (status === 500)
        report.wrong.push(`${at} ${target.name}: ${ending}: ${what}: ${said?.slice(0, 600)}`)
    } catch (error) {
      if (error instanceof DockApiError && error.status === 429) counted.refused += 1
      else {
        note(`${at} ${target.name}: ${error}`)
        counted.other.failed = (counted.other.failed ?? 0) + 1
        report.wrong.push(`${at} ${target.name}: ${error} ${(error as Error).cause ?? ''}`)
      }
    } finally {
      leave()
    }
  }

  let next = 0
  const work = async (): Promise<void> => {
    while (next < count && !isOver(next)) await attempt(next++)
  }
  const hold = async (_: unknown, at: number): Promise<void> => {
    const random = createRandom(-1 - seed * 1_009 - at)
    const holdable = targets.filter((target) => target.hold)
    while (next < count && !isOver(next) && holdable.length > 0) {
      const target = random.weighted(holdable)
      const heard = await target.hold!(world, random).catch(() => null)
      report.held += 1
      if (heard) note(`${target.name}: held, ${heard.status ?? 'nothing heard'}`)
      if (heard?.status === 500)
        report.wrong.push(`${target.name}: held: ${heard.what}: ${heard.said?.slice(0, 600)}`)
    }
  }
  await Promise.all([...Array.from({ length: atOnce }, work), ...Array.from({ length: holding }, hold)])
  return report
}

/** Returns a line for each target. */
export function describeCounts({ counts }: Report): string[] {
  return [...counts].map(([name, { sent, begun, refused, unheard, other }]) => {
    const rest = Object.entries(other).map(([status, times]) => `${status}: ${times}`)
    return [
      `${name.padEnd(28)} ${String(sent).padStart(5)} sent, ${String(begun).padStart(5)} begun`,
      `${unheard} left before the response`,
      ...(refused > 0 ? [`${refused} refused for a limit`] : []),
      ...rest,
    ].join(', ')
  })
}

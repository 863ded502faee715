/** Detects whether this machine has a processor to spare for a sandbox under SCHED_BATCH (docs/how-dock-is-fast.md). */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Milliseconds per clock tick in /proc/stat. */
const tickMs = 10
/** Ticks are too coarse to measure a shorter time. */
const spanMs = 100
const idleShareMin = 0.25

const read = (path: string): string => readFileSync(path, 'utf8')

export class SpareCpu {
  readonly #processors: number
  readonly #read: (path: string) => string
  readonly #nowMs: () => number
  #seen: { atMs: number; idleMs: number }
  #wasIdle = false

  constructor(processors = availableParallelism(), readText = read, nowMs = () => performance.now()) {
    this.#processors = processors
    this.#read = readText
    this.#nowMs = nowMs
    this.#seen = { atMs: nowMs(), idleMs: this.#idleMs() }
  }

  /**
   * True if no thread waits for a processor, or the processors were idle a quarter of the time since the last check.
   */
  get isAvailable(): boolean {
    const running = Number(/ (\d+)\/\d+ /.exec(this.#read('/proc/loadavg'))?.[1])
    return running <= this.#processors || this.#wereIdle()
  }

  #wereIdle(): boolean {
    const atMs = this.#nowMs()
    const passedMs = atMs - this.#seen.atMs
    if (passedMs < spanMs) return this.#wasIdle
    const idleMs = this.#idleMs()
    this.#wasIdle = (idleMs - this.#seen.idleMs) / (passedMs * this.#processors) >= idleShareMin
    this.#seen = { atMs, idleMs }
    return this.#wasIdle
  }

  /** Sum of `idle` and `iowait`, the fourth and fifth number in the first line of /proc/stat. */
  #idleMs(): number {
    const [, , , , idle, waiting] = this.#read('/proc/stat').split(/\s+/, 6).map(Number)
    return ((idle ?? 0) + (waiting ?? 0)) * tickMs
  }
}

const machine = new SpareCpu()

/** Returns true if this machine has a processor to spare now. */
export function hasSpareCpu(): boolean {
  return machine.isAvailable
}

/** Whether this machine has a processor to spare for a sandbox whose threads wait their turn (decision 030). */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Length of a clock tick as /proc/stat counts them, milliseconds. */
const tickMs = 10
/** Over less time than this the ticks say nothing. */
const spanMs = 100
const idleShareMin = 0.25

const read = (path: string): string => readFileSync(path, 'utf8')

export class Calm {
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

  /** No thread waits for a processor now; or the processors were idle for a quarter of the time since the last look at them. */
  get holds(): boolean {
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

  /** The fourth and fifth figure of /proc/stat's first line: idle, and idle while a disk is waited for. */
  #idleMs(): number {
    const [, , , , idle, waiting] = this.#read('/proc/stat').split(/\s+/, 6).map(Number)
    return ((idle ?? 0) + (waiting ?? 0)) * tickMs
  }
}

const machine = new Calm()

/** Whether this machine is calm now. */
export function isCalm(): boolean {
  return machine.holds
}

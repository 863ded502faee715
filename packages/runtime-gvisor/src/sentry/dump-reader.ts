/**
 * Extracts the memory usage of each process from a sentry's dump. The dump also contains arguments, variables and
 * mappings, whose length the tenant chooses. They are skipped as they arrive, so that they do not block the event loop,
 * and at most 4 MiB are read. The order of processes is arbitrary, so a truncated dump contains some of them.
 */
import * as z from 'zod'
import { ObjectEnd } from './object-end.ts'
import type { AnswerReader, Progress, SentryAnswer } from './sentry-answer.ts'

/** A process as the sentry lists it. */
export type ListedProcess = { pid: number; parentPid: number; name: string }
export type MemoryProcess = ListedProcess & { rssBytes: number }

export type MemoryDump = {
  processes: MemoryProcess[]
  /** True if the dump was read to its end and contains every process. */
  isWhole: boolean
  /** Time this process spent reading the dump. */
  readMs: number
}

const dumpBytesMax = 4 * 2 ** 20
/** Maximum size of the answer without its result, and of the status of a process. */
const keptBytesMax = 4096
const statusKey = Buffer.from('"status":')
/** Nesting depth of the list of processes in the answer, and of the status of a process. */
const [listDepth, statusDepth] = [2, 4]

/** gVisor omits an empty name and a size of 0. A tenant can cause both, and the dump must still be read. */
const status = z.object({
  pid: z.number().int().positive(),
  ppid: z.number().int(),
  comm: z.string().default(''),
  vm_rss: z.number().nonnegative().default(0),
})

export class DumpReader implements AnswerReader {
  readonly #end = new ObjectEnd()
  readonly #processes: MemoryProcess[] = []
  /** The answer, with null in place of its list. */
  readonly #frame = new KeptText()
  readonly #status = new KeptText()
  #keeping: KeptText | undefined = this.#frame
  #bytes = 0
  /** Last bytes of the previous chunk, because a key may be split. */
  #tail: Buffer = Buffer.alloc(0)
  #isWhole = true
  #readMs = 0

  feed(chunk: Buffer): Progress {
    const beginMs = performance.now()
    try {
      return this.#read(chunk)
    } finally {
      this.#readMs += performance.now() - beginMs
    }
  }

  answer(): SentryAnswer {
    const [processes, isWhole, readMs] = [this.#processes, this.#isWhole, this.#readMs]
    const result: MemoryDump = { processes, isWhole, readMs }
    return this.#isWhole ? { ...JSON.parse(this.#frame.take()), result } : { success: true, result }
  }

  #read(chunk: Buffer): Progress {
    this.#bytes += chunk.length
    if (this.#bytes > dumpBytesMax) {
      this.#isWhole = false
      return 'enough'
    }
    const seen = Buffer.concat([this.#tail, chunk])
    const begin = this.#tail.length
    let keptTo = begin
    const progress = this.#end.feed(chunk, (index, depth, opens) => {
      const at = begin + index
      if (depth === listDepth && opens) {
        this.#frame.add(seen.subarray(keptTo, at))
        this.#frame.add(Buffer.from('null'))
        this.#keeping = undefined
      } else if (depth === listDepth) {
        this.#keeping = this.#frame
        keptTo = at + 1
      } else if (depth === statusDepth && opens) {
        if (!seen.subarray(Math.max(0, at - statusKey.length), at).equals(statusKey)) return
        this.#keeping = this.#status
        keptTo = at
      } else if (depth === statusDepth && this.#keeping) {
        this.#status.add(seen.subarray(keptTo, at + 1))
        this.#keeping = undefined
        this.#take(status.parse(JSON.parse(this.#status.take())))
      }
    })
    this.#keeping?.add(seen.subarray(keptTo))
    this.#tail = seen.subarray(-statusKey.length)
    return progress
  }

  #take({ pid, ppid, comm, vm_rss }: z.infer<typeof status>): void {
    this.#processes.push({ pid, parentPid: ppid, name: comm, rssBytes: vm_rss * 1024 })
  }
}

/** Collects a small text from pieces. */
class KeptText {
  #bytes = Buffer.alloc(0)

  add(piece: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, piece])
    if (this.#bytes.length > keptBytesMax) throw new Error('the dump of a sentry is of another kind')
  }

  take(): string {
    const text = this.#bytes.toString('utf8')
    this.#bytes = Buffer.alloc(0)
    return text
  }
}

/** Writes the input of a process by offset, so that no byte is lost or written twice. */
import type { Client } from './client.ts'
import { DockError, hasCode } from './dock-error.ts'
import type { ProcessPlace } from './process-output.ts'
import type { Abortable } from './request-options.ts'
import { isPassing, untilReached } from './until-reached.ts'

/** What can be sent as input. */
export type InputData = string | Uint8Array | AsyncIterable<Uint8Array | string> | ReadableStream<Uint8Array>

/** Bytes of one request. What a broken request has to repeat stays small. */
const pieceBytes = 256 * 1024

const encoder = new TextEncoder()

async function* piecesOf(data: InputData): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (typeof data === 'string' || data instanceof Uint8Array) {
    const bytes = (typeof data === 'string' ? encoder.encode(data) : data) as Uint8Array<ArrayBuffer>
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    return
  }
  if (data instanceof ReadableStream) {
    const reader = data.getReader()
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield* piecesOf(next.value)
    } finally {
      reader.releaseLock()
    }
    return
  }
  for await (const part of data) yield* piecesOf(part)
}

/** The input of one process. All handles of a process share it, so their writes go one after the other. */
export class ProcessInput {
  readonly #client: Client
  readonly #params: ProcessPlace
  #last: Promise<unknown> = Promise.resolve()
  #isUncertain = false

  constructor(client: Client, params: ProcessPlace) {
    this.#client = client
    this.#params = params
  }

  /**
   * Sends the data after everything that was written before. Resolves when the service has taken it, which waits for the
   * process if that does not read. Concurrent writes are sent whole, in the order of the calls.
   */
  write(data: InputData, { signal }: Abortable = {}): Promise<void> {
    return this.#inTurn(async () => {
      let at: number | null = null
      for await (const piece of piecesOf(data)) {
        at ??= await this.#offset(signal)
        await this.#send(piece, at, signal)
        at += piece.length
      }
    })
  }

  /** Ends the input once everything was written. */
  close({ signal }: Abortable = {}): Promise<void> {
    return this.#inTurn(async () => {
      const { ...params } = this.#params
      await untilReached(signal, () => this.#client.call('closeDockProcessInput', { params, signal }))
    })
  }

  /** A stream to pipe into; its end ends the input. */
  writable(): WritableStream<Uint8Array | string> {
    return new WritableStream({ write: (data) => this.write(data), close: () => this.close() })
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(() => {
      if (!this.#isUncertain) return work()
      throw new DockError(
        'input_uncertain',
        'An earlier write was aborted, so nobody knows how much of it arrived. Start the process again.',
      )
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Asks each time, because another program may have written in the meantime. */
  async #offset(signal: AbortSignal | undefined): Promise<number> {
    const params = this.#params
    const { stdin } = await untilReached(signal, () =>
      this.#client.call('readDockProcess', { params, signal }),
    )
    return stdin.offset
  }

  async #send(piece: Uint8Array<ArrayBuffer>, start: number, signal: AbortSignal | undefined): Promise<void> {
    const params = this.#params
    const end = start + piece.length
    let at = start
    try {
      await untilReached(signal, async () => {
        try {
          const body = piece.subarray(at - start)
          at = (
            await this.#client.call('writeDockProcessInput', { params, query: { offset: at }, body, signal })
          ).offset
        } catch (error) {
          if (!isPassing(error)) throw error
          // Some of it may have arrived.
          at = Math.min(end, await this.#offset(signal))
          if (at < end) throw error
        }
      })
    } catch (error) {
      if (signal?.aborted || !hasCode(error, 'conflict')) this.#isUncertain = true
      throw error
    }
    if (at <= end) return
    throw new DockError('input_shared', 'Another program wrote to this process at the same moment.')
  }
}

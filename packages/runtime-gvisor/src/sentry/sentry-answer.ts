/** Reads an answer of a sentry as it arrives. An answer is one JSON object. */
import { ObjectEnd } from './object-end.ts'

export type SentryAnswer = { success?: boolean; err?: string; result?: unknown }

/**
 * State after a chunk. `open`: the answer continues. `closed`: it ended with the chunk. `excess`: bytes follow its end.
 * `long`: it exceeds the limit. `enough`: the reader needs no more of it.
 */
export type Progress = 'open' | 'closed' | 'excess' | 'long' | 'enough'

export type AnswerReader = {
  /** Consumes the next bytes. Throws if they cannot be part of an answer. */
  feed(chunk: Buffer): Progress
  /** Returns the answer after `closed` or `enough`. Throws if it is not JSON. */
  answer(): SentryAnswer
}

/**
 * Fits the longest answer: a list of the maximum of 16,384 processes, whose names take the most bytes in JSON, about
 * 250 bytes each. Larger answers are refused, because parsing blocks the event loop.
 */
const answerBytesMax = 2 ** 22
/** A sentry sends an answer in one write. A hostile one could send single bytes, each of which costs a Buffer. */
const answerPiecesMax = 4096

/** Reads the whole answer into memory. */
export class WholeAnswer implements AnswerReader {
  readonly #end = new ObjectEnd()
  readonly #pieces: Buffer[] = []
  #bytes = 0

  feed(chunk: Buffer): Progress {
    this.#bytes += chunk.length
    if (this.#bytes > answerBytesMax || this.#pieces.length >= answerPiecesMax) return 'long'
    this.#pieces.push(chunk)
    return this.#end.feed(chunk)
  }

  answer(): SentryAnswer {
    return JSON.parse(Buffer.concat(this.#pieces).toString('utf8'))
  }
}

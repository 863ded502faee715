/** How an answer of a sentry is read as it arrives. An answer is one JSON object. */
import { ObjectEnd } from './object-end.ts'

export type SentryAnswer = { success?: boolean; err?: string; result?: unknown }

/**
 * What is known after some bytes: the answer goes on, it ended with them, bytes follow its end, it is longer than any can
 * be, or the reader wants no more of it.
 */
export type Progress = 'open' | 'closed' | 'excess' | 'long' | 'enough'

export type AnswerReader = {
  /** Takes the next bytes. Throws when they belong to no answer. */
  feed(chunk: Buffer): Progress
  /** What was read, after `closed` or `enough`. Throws when it is not JSON. */
  answer(): SentryAnswer
}

/**
 * The longest is the list of as many processes as a sandbox may have (16,384), each with a name that JSON writes longest,
 * some 250 bytes. It is parsed at once, while everything else waits.
 */
const answerBytesMax = 2 ** 22
/** A sentry sends an answer in one write; one byte at a time would cost a hundred times its size. */
const answerPiecesMax = 4096

/** Keeps the whole answer. */
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

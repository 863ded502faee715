/**
 * A connection to a sentry's control socket. The protocol is private to gVisor (urpc): one JSON object in each
 * direction, without a length or delimiter, one call at a time. Descriptors are sent along with the first byte of a
 * request.
 */
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connectUnixSocket, sendDescriptors } from '../system/system-calls.ts'
import { type AnswerReader, type SentryAnswer, WholeAnswer } from './sentry-answer.ts'

/** The sentry refused the call. The message is the sentry's. */
export class SentryRefused extends Error {
  override readonly name = 'SentryRefused'
}

/** The sentry gave no valid answer. The call may or may not have taken effect. */
export class SentrySilent extends Error {
  override readonly name = 'SentrySilent'
}

type Call = {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  reader: AnswerReader
  timer: NodeJS.Timeout | undefined
}

export type SentryCallOptions = {
  descriptors?: readonly number[]
  deadlineMs?: number
  reader?: AnswerReader
}

/** Time until the next look at a queue that was full. */
const fullQueueMs = 5

export class SentryConnection {
  readonly #fd: number
  readonly #socket: Socket
  #call: Call | undefined
  /** Resolves when the connection is closed for any reason. */
  readonly closed: Promise<void>

  /**
   * Connects. While the sentry's queue of connections is full, it waits, at most for `deadlineMs`. Throws if no sentry
   * listens at the path.
   */
  static async open(path: string, deadlineMs = Number.POSITIVE_INFINITY): Promise<SentryConnection> {
    const begin = performance.now()
    for (;;) {
      const descriptor = connectUnixSocket(path)
      if (descriptor !== null) return new SentryConnection(descriptor)
      if (performance.now() - begin >= deadlineMs)
        throw new SentrySilent(`the sentry accepted no connection in ${deadlineMs} ms`)
      await delay(fullQueueMs)
    }
  }

  private constructor(descriptor: number) {
    this.#fd = descriptor
    this.#socket = new Socket({ fd: this.#fd, readable: true, writable: true })
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    void this.closed.then(() => this.#end(new SentrySilent('the control socket was closed')))
  }

  /** True if the connection is open and no call is in progress. */
  get isFree(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded && this.#call === undefined
  }

  /**
   * Makes a call. Closes the connection if no answer arrives within `deadlineMs`, or if `reader` stops before the end
   * of the answer.
   */
  call(
    method: string,
    argument: unknown,
    { descriptors = [], deadlineMs, reader = new WholeAnswer() }: SentryCallOptions = {},
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const silent = (): void => this.#end(new SentrySilent(`no answer to ${method} in ${deadlineMs} ms`))
      const timer = deadlineMs === undefined ? undefined : setTimeout(silent, deadlineMs)
      this.#call = { resolve, reject, reader, timer }
      try {
        this.#send(Buffer.from(JSON.stringify({ method, arg: argument })), descriptors)
      } catch (error) {
        this.#end(new SentrySilent(`${method}: ${(error as Error).message}`))
      }
    })
  }

  close(): void {
    this.#end(new SentrySilent('the control socket was closed'))
  }

  #send(request: Buffer, descriptors: readonly number[]): void {
    const sent = descriptors.length === 0 ? 0 : sendDescriptors(this.#fd, request, descriptors)
    if (descriptors.length > 0 && sent === 0) throw new Error('the control socket is full')
    if (sent < request.length) this.#socket.write(request.subarray(sent))
  }

  #receive(chunk: Buffer): void {
    const call = this.#call
    if (!call) {
      this.#end(new SentrySilent('the sentry sent an answer without a call'))
      return
    }
    let answer: SentryAnswer
    try {
      const progress = call.reader.feed(chunk)
      if (progress === 'open') return
      if (progress === 'long') {
        this.#end(new SentrySilent("the sentry's answer exceeds the size limit"))
        return
      }
      if (progress === 'excess') throw new Error('excess bytes')
      if (progress === 'enough') this.#socket.destroy()
      answer = call.reader.answer()
    } catch {
      this.#end(new SentrySilent("the sentry's answer is not a single JSON object"))
      return
    }
    clearTimeout(call.timer)
    this.#call = undefined
    if (answer.success) call.resolve(answer.result)
    else call.reject(new SentryRefused(answer.err ?? 'the sentry gave no reason'))
  }

  #end(error: Error): void {
    const call = this.#call
    this.#call = undefined
    this.#socket.destroy()
    clearTimeout(call?.timer)
    call?.reject(error)
  }
}

/**
 * One connection to a sentry's control socket. The protocol is gVisor's own: one bare JSON value each way, without
 * length or end mark, one call at a time; descriptors ride on a request's first byte.
 */
import { Socket } from 'node:net'
import { ObjectEnd } from './object-end.ts'
import { connectUnixSocket, sendDescriptors } from './system-calls.ts'

/** The sentry was reached and would not do it; the message is its own. */
export class SentryRefused extends Error {
  override readonly name = 'SentryRefused'
}

/** No answer: whether the call was carried out is unknown. */
export class SentrySilent extends Error {
  override readonly name = 'SentrySilent'
}

type Call = {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  answer: Buffer[]
  answerBytes: number
  end: ObjectEnd
  timer: NodeJS.Timeout | undefined
}

/** The longest answer lists up to 150 processes with their arguments, variables and mappings, for the memory guard. */
const answerBytesMax = 32 * 2 ** 20
/** A sentry sends an answer in one write; one byte at a time would cost a hundred times its size. */
const answerPiecesMax = 4096

export class SentryConnection {
  readonly #fd: number
  readonly #socket: Socket
  #call: Call | undefined
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>

  /** Connects. Throws when no sentry listens at the path. */
  constructor(path: string) {
    this.#fd = connectUnixSocket(path)
    this.#socket = new Socket({ fd: this.#fd, readable: true, writable: true })
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    void this.closed.then(() => this.#end(new SentrySilent('the control socket was closed')))
  }

  /** Whether another call can be made: the connection stands and none is under way. */
  get isFree(): boolean {
    return !this.#socket.destroyed && !this.#socket.readableEnded && this.#call === undefined
  }

  /** Makes one call. The connection is closed when no answer comes within `deadlineMs`. */
  call(
    method: string,
    argument: unknown,
    { descriptors = [], deadlineMs }: { descriptors?: readonly number[]; deadlineMs?: number } = {},
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const silent = (): void => this.#end(new SentrySilent(`no answer to ${method} in ${deadlineMs} ms`))
      const timer = deadlineMs === undefined ? undefined : setTimeout(silent, deadlineMs)
      this.#call = { resolve, reject, answer: [], answerBytes: 0, end: new ObjectEnd(), timer }
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
      this.#end(new SentrySilent('the sentry answered what was not asked'))
      return
    }
    call.answerBytes += chunk.length
    if (call.answerBytes > answerBytesMax || call.answer.length >= answerPiecesMax) {
      this.#end(new SentrySilent("the sentry's answer is longer than any can be"))
      return
    }
    call.answer.push(chunk)
    const end = call.end.feed(chunk)
    if (end === 'open') return
    let answer: { success?: boolean; err?: string; result?: unknown }
    try {
      if (end === 'excess') throw new Error('excess bytes')
      answer = JSON.parse(Buffer.concat(call.answer).toString('utf8'))
    } catch {
      this.#end(new SentrySilent('the sentry sent something else than one JSON object'))
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

/**
 * A client of QEMU's monitor protocol: one JSON object a line. QEMU may be taken over by its guest, so lines, commands in flight
 * and waiting times are bounded, and anything unexpected ends the connection for good.
 */
import { connect, type Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import * as z from 'zod'

const lineCharactersMax = 2 ** 20
const commandsMax = 64
/** Generous: a pause waits for the host's disk, and a machine whose monitor does not answer is killed. */
const commandTimeoutMs = 120_000

/** Events that QEMU may send within a second. A disk that fails sends one for each request under way. */
const eventsPerSecondMax = 1_000

const eventMessage = z.object({ event: z.string(), data: z.record(z.string(), z.unknown()).optional() })
const resultMessage = z.object({ id: z.number(), return: z.unknown() })
const refusalMessage = z.object({ id: z.number(), error: z.object({ desc: z.string() }) })

const parseObject = (line: string): object | null => {
  try {
    const json: unknown = JSON.parse(line)
    return typeof json === 'object' ? json : null
  } catch {
    return null
  }
}

/** QEMU refused a command. */
export class QmpRefused extends Error {
  override readonly name = 'QmpRefused'
}

/** The connection is over: QEMU ended, closed it, broke the protocol or did not answer in time. */
export class QmpBroken extends Error {
  override readonly name = 'QmpBroken'
}

export type QmpEvent = { name: string; data: Record<string, unknown> }

type Waiting = { resolve: (value: unknown) => void; reject: (error: Error) => void; timer: NodeJS.Timeout }

export class QmpClient {
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  readonly #greeted = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<QmpBroken>()
  readonly #onEvent: (event: QmpEvent) => void
  #text = ''
  #nextId = 1
  #eventSecond = 0
  #events = 0
  #error: QmpBroken | undefined

  private constructor(path: string, onEvent: (event: QmpEvent) => void) {
    this.#onEvent = onEvent
    this.#socket = connect(path)
    const decoder = new StringDecoder('utf8')
    this.#socket.on('data', (chunk) => this.#take(decoder.write(chunk)))
    this.#socket.once('error', (error) => this.#break(`the monitor failed: ${error.message}`))
    this.#socket.once('close', () => this.#break('the monitor closed'))
    this.#greeted.promise.catch(() => undefined)
  }

  /** Resolves when QEMU takes commands. The socket may listen long before that: QEMU has `greetingMs` to greet. */
  static async connect(
    path: string,
    onEvent: (event: QmpEvent) => void,
    greetingMs = commandTimeoutMs,
  ): Promise<QmpClient> {
    const client = new QmpClient(path, onEvent)
    const timer = setTimeout(() => client.#break('the monitor did not greet'), greetingMs)
    try {
      await client.#greeted.promise
      await client.execute('qmp_capabilities')
      return client
    } catch (error) {
      client.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Resolves when the connection is over, with the reason. */
  get closed(): Promise<QmpBroken> {
    return this.#closed.promise
  }

  /** Runs a command and returns its result. Rejects with {@link QmpRefused} or {@link QmpBroken}. */
  execute(command: string, args?: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#error) return Promise.reject(this.#error)
    if (this.#waiting.size >= commandsMax) return Promise.reject(new QmpBroken('too many commands in flight'))
    const id = this.#nextId++
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => this.#break(`${command} took longer than two minutes`), commandTimeoutMs)
    this.#waiting.set(id, { resolve, reject, timer })
    this.#socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }), id })}\n`)
    return promise
  }

  close(): void {
    this.#break('the monitor was closed')
  }

  #take(text: string): void {
    const lines = (this.#text + text).split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of [...lines, this.#text]) {
      if (line.length > lineCharactersMax) this.#break('the monitor sent a line that is too long')
    }
    for (const line of lines) {
      if (line.trim() !== '' && !this.#error) this.#handle(line)
    }
  }

  #handle(line: string): void {
    const json = parseObject(line)
    if (!json) this.#break('the monitor sent something that is no JSON object')
    else if ('QMP' in json) this.#greeted.resolve()
    else if ('event' in json) this.#takeEvent(eventMessage.safeParse(json).data)
    else if ('error' in json) this.#takeRefusal(refusalMessage.safeParse(json).data)
    else if ('return' in json) this.#takeResult(resultMessage.safeParse(json).data)
    else this.#refuse()
  }

  #takeEvent(message: z.infer<typeof eventMessage> | undefined): void {
    const second = Math.floor(performance.now() / 1000)
    if (second !== this.#eventSecond) this.#events = 0
    this.#eventSecond = second
    this.#events += 1
    if (!message) this.#refuse()
    else if (this.#events > eventsPerSecondMax) this.#break('the monitor sent too many events')
    else this.#onEvent({ name: message.event, data: message.data ?? {} })
  }

  #takeRefusal(message: z.infer<typeof refusalMessage> | undefined): void {
    if (message) this.#waiterOf(message.id)?.reject(new QmpRefused(message.error.desc.slice(0, 500)))
    else this.#refuse()
  }

  #takeResult(message: z.infer<typeof resultMessage> | undefined): void {
    if (message) this.#waiterOf(message.id)?.resolve(message.return)
    else this.#refuse()
  }

  /** Returns who waits for the answer to a command, and forgets them. */
  #waiterOf(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    if (!waiting) this.#break('the monitor answered a command that nobody sent')
    this.#waiting.delete(id)
    clearTimeout(waiting?.timer)
    return waiting
  }

  #refuse(): void {
    this.#break('the monitor sent an unknown message')
  }

  #break(reason: string): void {
    if (this.#error) return
    this.#error = new QmpBroken(reason)
    this.#socket.destroy()
    this.#greeted.reject(this.#error)
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(this.#error)
    }
    this.#waiting.clear()
    this.#closed.resolve(this.#error)
  }
}

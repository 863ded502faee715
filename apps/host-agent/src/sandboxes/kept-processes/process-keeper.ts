/**
 * The agent's access to the process keeper, which it starts when it first needs one. The keeper is a program of its own and
 * outlives the agent, so the pipes of processes stay open while the agent is replaced.
 */
import { mkdir, rm } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { isUnserved, type Logger, startDetached } from '@dock/foundation'
import { firstOffsetHeader, type KeptInputOffset, startOffsetHeader } from '@dock/host-protocol'
import type { KeeperSettings } from '../../process-keeper/keeper-settings.ts'
import type { StreamName, StreamsState, WantedStreams } from '../../process-keeper/kept-streams.ts'
import { LeftPipes, type PipesOfProcess } from '../../process-keeper/left-pipes.ts'
import type { PipePaths } from '../../process-keeper/pipes.ts'
import { AgentRefusal } from '../agent-refusal.ts'

const compiledDir = process.env['DOCK_COMPILED']
/** The bundle, if the agent runs from one. */
const program =
  compiledDir === undefined
    ? fileURLToPath(new URL('../../process-keeper/main.ts', import.meta.url))
    : join(compiledDir, 'process-keeper.mjs')

export type KeeperPlace = {
  /** Folder of the kept output. */
  folder: string
  /** Folder of the socket. Its path must be short. */
  runFolder: string
  /** Other sizes and times, for tests. */
  settings?: Partial<KeeperSettings>
}

/** An open output. `first` is the offset of the first kept byte, `start` that of the first byte of `body`. */
export type OpenOutput = { first: number; start: number; body: Readable }

const readText = async (response: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return text
}

const codes = { not_found: 'not_found', conflict: 'conflict', busy: 'busy', invalid: 'invalid' } as const

const refusalOf = async (response: IncomingMessage): Promise<Error> => {
  const text = await readText(response)
  try {
    const { code, message } = JSON.parse(text) as { code: string; message: string }
    const known = Object.entries(codes).find(([each]) => each === code)?.[1]
    return known ? new AgentRefusal(known, message) : new Error(`the process keeper failed: ${message}`)
  } catch {
    return new Error(`the process keeper responded with status ${response.statusCode}`)
  }
}

export class ProcessKeeper {
  readonly #place: KeeperPlace
  readonly #socketPath: string
  readonly #logger: Logger
  readonly #connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  /** Pipes that a keeper could not take. */
  readonly #left = new LeftPipes()
  #starting: Promise<void> | null = null
  #isWatching = false
  #onDeath = (): void => undefined

  constructor(place: KeeperPlace, logger: Logger) {
    this.#place = place
    this.#socketPath = join(place.runFolder, 'keeper.sock')
    this.#logger = logger
  }

  /** Sets the listener for the death of a keeper that was in use. Every pipe that it held is then closed. */
  onDeath(listener: () => void): void {
    this.#onDeath = listener
  }

  /** Makes the pipes of a process. They are ready to be opened by path. */
  async create(dockId: string, id: string, wanted: WantedStreams): Promise<PipePaths> {
    const paths = await this.#ask<PipePaths>('POST', `/docks/${dockId}/processes/${id}`, wanted)
    void this.#watch()
    return paths
  }

  /**
   * Lets the keeper read and drop what comes out of pipes of this process, which may close its own ends then. An older
   * keeper cannot do it: then the agent does, until it ends.
   */
  async keepLeft(dockId: string, descriptors: readonly number[]): Promise<void> {
    const pipes: PipesOfProcess = { pid: process.pid, descriptors }
    try {
      await this.#ask('POST', `/docks/${dockId}/left`, pipes)
    } catch (error) {
      this.#logger.warn({ err: error, dockId }, 'outputs of background processes stay with the agent')
      this.#left.keep(dockId, pipes)
    }
  }

  /** Tells the keeper that the process has its own ends of the pipes. */
  async markStarted(dockId: string, id: string): Promise<void> {
    await this.#ask('POST', `/docks/${dockId}/processes/${id}/started`)
  }

  /** Returns the streams of all processes of the Dock that the keeper has, by id. */
  async states(dockId: string): Promise<Record<string, StreamsState>> {
    const states = await this.#ask<Record<string, StreamsState>>('GET', `/docks/${dockId}/processes`)
    void this.#watch()
    return states
  }

  /** Opens an output. Destroying the body ends the reading. Throws `not_found`, `conflict` and `busy`. */
  async openOutput(
    dockId: string,
    id: string,
    stream: StreamName,
    { offset, follow }: { offset: number; follow: boolean },
  ): Promise<OpenOutput> {
    const query = `offset=${offset}&follow=${follow}`
    const path = `/docks/${dockId}/processes/${id}/output/${stream}?${query}`
    const body = await this.#call('GET', path)
    const header = (name: string) => Number(body.headers[name])
    return { first: header(firstOffsetHeader), start: header(startOffsetHeader), body }
  }

  /** Writes the bytes of `body` from `offset` on. Returns the offset of the next byte. Throws `conflict`. */
  async writeInput(
    dockId: string,
    id: string,
    offset: KeptInputOffset,
    body: Readable,
  ): Promise<{ offset: number }> {
    const path = `/docks/${dockId}/processes/${id}/stdin?offset=${offset}`
    return JSON.parse(await readText(await this.#call('POST', path, body))) as { offset: number }
  }

  async closeInput(dockId: string, id: string): Promise<void> {
    await this.#ask('POST', `/docks/${dockId}/processes/${id}/stdin/close`)
  }

  /** Removes a process with its output. Idempotent. */
  async remove(dockId: string, id: string): Promise<void> {
    await this.#ask('DELETE', `/docks/${dockId}/processes/${id}`)
  }

  /** Removes all processes of a Dock with their output. Idempotent. Starts no keeper. */
  async removeDock(dockId: string): Promise<void> {
    try {
      await readText(await this.#send('DELETE', `/docks/${dockId}`))
    } catch (error) {
      if (!isUnserved(error)) throw error
      await rm(join(this.#place.folder, dockId), { recursive: true, force: true })
    }
  }

  /** Ends the keeper, if one runs, and closes all pipes. */
  async end(): Promise<void> {
    try {
      await readText(await this.#send('POST', '/end'))
    } catch (error) {
      if (!isUnserved(error)) throw error
    }
    this.#connections.destroy()
  }

  async #ask<Answer = unknown>(method: string, path: string, body?: object): Promise<Answer> {
    return JSON.parse(await readText(await this.#call(method, path, body))) as Answer
  }

  /** Sends a request. Starts a keeper if none runs, and sends the request again. */
  async #call(method: string, path: string, body?: object | Readable): Promise<IncomingMessage> {
    let response: IncomingMessage
    try {
      await this.#starting
      response = await this.#send(method, path, body)
    } catch (error) {
      // Nothing of a streamed body was read if there was no connection.
      if (!isUnserved(error)) throw error
      this.#starting ??= this.#start().finally(() => {
        this.#starting = null
      })
      await this.#starting
      response = await this.#send(method, path, body)
    }
    if (response.statusCode === 200) return response
    const refusal = await refusalOf(response)
    if (body instanceof Readable) body.destroy()
    throw refusal
  }

  #send(method: string, path: string, body?: object | Readable): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request({
        ...{ socketPath: this.#socketPath, method, path, agent: this.#connections },
        headers: body instanceof Readable ? { 'transfer-encoding': 'chunked' } : {},
      })
      asked.once('response', resolve)
      asked.on('error', reject)
      if (!(body instanceof Readable)) return void asked.end(body && JSON.stringify(body))
      // The body is not touched before there is a connection, so that the request can be sent again.
      asked.once('socket', (socket) => {
        const begin = () => pipeline(body, asked, () => undefined)
        if (socket.connecting) socket.once('connect', begin)
        else begin()
      })
    })
  }

  async #start(): Promise<void> {
    const { folder, runFolder, settings } = this.#place
    await mkdir(runFolder, { recursive: true, mode: 0o700 })
    await startDetached({
      ...{ name: 'the process keeper', file: program },
      args: [folder, this.#socketPath, JSON.stringify(settings ?? {})],
      socketPath: this.#socketPath,
    })
  }

  /** Notices the keeper's death, as long as one runs. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return
    this.#isWatching = true
    try {
      await readText(await this.#send('GET', '/end'))
      this.#isWatching = false
    } catch (error) {
      this.#isWatching = false
      this.#logger.error({ err: error }, 'the process keeper died')
      this.#onDeath()
    }
  }
}

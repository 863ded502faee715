/** The driver's access to the pump, which it starts when it first needs one. */
import { mkdir } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isUnserved, startDetached } from '@dock/foundation'
import { type ProgramEnd, pathOfProgram, programEnd, type TakeProgram } from './pump-protocol.ts'

const compiledDir = process.env['DOCK_COMPILED']
/** The bundle, if the agent runs from one. */
const file =
  compiledDir === undefined
    ? fileURLToPath(new URL('main.ts', import.meta.url))
    : join(compiledDir, 'microvm-pump.mjs')
/** No pump runs, or it died while it was asked. */
const isDead = (error: unknown): boolean =>
  isUnserved(error) || ['ECONNRESET', 'EPIPE'].includes(String((error as NodeJS.ErrnoException).code))

/** The end that the rest of the response says. Rejects if the pump dies first. */
const readEnd = async (response: IncomingMessage): Promise<ProgramEnd> =>
  programEnd.parse(JSON.parse(await text(response)))

export class PumpClient {
  readonly #socketPath: string
  #starting: Promise<void> | undefined

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** Lets the pump take a program over. On return it has the descriptors, which the caller may close. */
  async take(wanted: TakeProgram): Promise<{ ended: Promise<ProgramEnd> }> {
    const send = () => this.#send('POST', '/programs', wanted)
    const response = await send().catch(async (error: unknown) => {
      if (!isDead(error)) throw error
      this.#starting ??= this.#start().finally(() => {
        this.#starting = undefined
      })
      await this.#starting
      return await send()
    })
    if (response.statusCode !== 200) throw new Error(`the pump failed: ${await text(response)}`)
    return { ended: readEnd(response) }
  }

  /** Returns the end of a program, or undefined if no pump knows the program. */
  async endOf(machine: string, program: number): Promise<{ ended: Promise<ProgramEnd> } | undefined> {
    try {
      const response = await this.#send('GET', pathOfProgram(machine, program))
      if (response.statusCode === 200) return { ended: readEnd(response) }
      response.resume()
      return undefined
    } catch (error) {
      if (isDead(error)) return undefined
      throw error
    }
  }

  /** Ends the pump, if one runs, as soon as it carries no program. */
  async end(): Promise<void> {
    try {
      ;(await this.#send('POST', '/end')).resume()
    } catch (error) {
      if (!isDead(error)) throw error
    }
  }

  #send(method: string, path: string, body?: object): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      request({ socketPath: this.#socketPath, method, path, agent: false }, resolve)
        .on('error', reject)
        .end(body && JSON.stringify(body))
    })
  }

  async #start(): Promise<void> {
    await mkdir(dirname(this.#socketPath), { recursive: true, mode: 0o700 })
    await startDetached({
      ...{ name: 'the pump of microVMs', file, args: [this.#socketPath] },
      socketPath: this.#socketPath,
    })
  }
}

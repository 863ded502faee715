/** What every command gets: output, settings, a client, and questions to the user. */
import { createInterface } from 'node:readline'
import { type Client, createClient } from '@dock/sdk'
import { cleanText } from '../output/clean-text.ts'
import type { Output } from '../output/output.ts'
import { type Connection, findConnection, isPlainToAnotherMachine } from '../settings/connection.ts'
import { configFile, isReadableByOthers } from '../settings/profiles.ts'
import { LocalError, UsageError } from './failures.ts'
import type { Input } from './input.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export class Context {
  readonly out: Output
  readonly env: Environment
  readonly cwd: string
  readonly isInteractive: boolean
  readonly #isYes: boolean
  readonly #profile: string | undefined
  #connection: Promise<Connection> | undefined
  #client: Promise<Client> | undefined

  constructor(out: Output, env: Environment, cwd: string, input: Input) {
    this.out = out
    this.env = env
    this.cwd = cwd
    this.#isYes = input.has('yes')
    this.#profile = input.text('profile')
    this.isInteractive =
      !input.has('no-input') && process.stdin.isTTY === true && process.stderr.isTTY === true
  }

  /** Returns the service and the key. Warns before the key can be read on its way. */
  connection(): Promise<Connection> {
    this.#connection ??= findConnection(this.env, this.#profile).then(async (connection) => {
      this.warnIfPlain(connection.url)
      if (connection.profile !== undefined && (await isReadableByOthers(this.env)))
        this.out.warn(`Others can read your key. Make the file private: chmod 600 ${configFile(this.env)}`)
      return connection
    })
    return this.#connection
  }

  get profileName(): string | undefined {
    return this.#profile
  }

  warnIfPlain(url: string): void {
    if (isPlainToAnotherMachine(url))
      this.out.warn(`${url} is not encrypted: everybody on the way can read your key. Use https.`)
  }

  client(): Promise<Client> {
    this.#client ??= this.connection().then(({ url, apiKey }) => createClient({ baseUrl: url, apiKey }))
    return this.#client
  }

  /** Returns a client that sends its requests with this function. */
  async clientWith(send: typeof fetch): Promise<Client> {
    const { url, apiKey } = await this.connection()
    return createClient({ baseUrl: url, apiKey, fetch: send })
  }

  /** Asks whether to do something. Throws if nobody can be asked, or if the user says no. */
  async confirm(question: string): Promise<void> {
    if (this.#isYes) return
    if (!this.isInteractive) throw new UsageError(`${question} Repeat the command with --yes to confirm.`)
    this.out.clear()
    const answer = await this.ask(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new LocalError('cancelled', 'Nothing was changed.')
  }

  /** Asks for a line of text on stderr. */
  ask(question: string): Promise<string> {
    const reader = createInterface({ input: process.stdin, output: process.stderr })
    return new Promise((resolve) => {
      reader.once('close', () => resolve(''))
      reader.question(cleanText(question), (answer) => {
        resolve(answer)
        reader.close()
      })
    })
  }
}

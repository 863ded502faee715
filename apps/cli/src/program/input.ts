/** The arguments and flags of one call of a command, parsed. */
import { UsageError } from './failures.ts'

export type FlagValue = true | string[]

export class Input {
  readonly #args: ReadonlyMap<string, string>
  readonly #flags: ReadonlyMap<string, FlagValue>
  /** The arguments of the last name, if it takes many; or the words of the command for the Dock. */
  readonly rest: readonly string[]
  constructor(
    args: ReadonlyMap<string, string>,
    flags: ReadonlyMap<string, FlagValue>,
    rest: readonly string[],
  ) {
    this.#args = args
    this.#flags = flags
    this.rest = rest
  }

  /** Returns a required argument. */
  arg(name: string): string {
    const value = this.#args.get(name)
    if (value === undefined) throw new UsageError(`${name} is missing.`)
    return value
  }

  optional(name: string): string | undefined {
    return this.#args.get(name)
  }

  has(flag: string): boolean {
    return this.#flags.has(flag)
  }

  /** Returns the value of a flag; the last one counts. */
  text(flag: string): string | undefined {
    const value = this.#flags.get(flag)
    return Array.isArray(value) ? value.at(-1) : undefined
  }

  list(flag: string): readonly string[] {
    const value = this.#flags.get(flag)
    return Array.isArray(value) ? value : []
  }

  integer(flag: string): number | undefined {
    const text = this.text(flag)
    if (text === undefined) return undefined
    if (!/^\d{1,15}$/.test(text))
      throw new UsageError(`--${flag} needs a whole number, not ${JSON.stringify(text)}.`)
    return Number(text)
  }
}

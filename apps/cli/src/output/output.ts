/** All that the command line writes: results on stdout, everything else on stderr. */
import { cleanJson, cleanText } from './clean-text.ts'
import { type ColourName, colour, hasColours } from './colours.ts'
import type { Sink } from './sink.ts'
import { StatusLine } from './status-line.ts'
import { type Fit, tableLines } from './table.ts'
import { transferLine } from './transfer-bar.ts'

export type OutputOptions = {
  stdout: Sink
  stderr: Sink
  env: Readonly<Record<string, string | undefined>>
  isJson: boolean
  isQuiet: boolean
}

export type TableOptions = {
  /** What quiet mode prints. Default: the first column. */
  ids?: readonly string[]
  /** Said instead of a table without rows. */
  empty?: string
  colours?: Colours
} & Fit

export type Transfer = { add(bytes: number): void; setTotal(total: number): void; end(): void }

export class Output {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly stdout: Sink
  readonly stderr: Sink
  readonly #coloursOut: boolean
  readonly #coloursError: boolean
  readonly #status: StatusLine

  constructor({ stdout, stderr, env, isJson, isQuiet }: OutputOptions) {
    this.stdout = stdout
    this.stderr = stderr
    this.isJson = isJson
    this.isQuiet = isQuiet
    this.#coloursOut = hasColours(stdout, env)
    this.#coloursError = hasColours(stderr, env)
    this.#status = new StatusLine(stderr, !isJson && !isQuiet && stderr.isTTY === true && env.TERM !== 'dumb')
  }

  /** Prints the result: `value` as JSON, or what `show` prints. */
  result(value: unknown, show: () => void): void {
    if (this.isJson) this.stdout.write(`${cleanJson(value, 2)}\n`)
    else show()
  }

  /** Prints one line of the result. */
  line(text: string): void {
    this.stdout.write(`${cleanText(text)}\n`)
  }

  /**
   * Prints a list as the result: a row for each item, with a column for each heading. In quiet mode, prints the column
   * `ID`, or the first one.
   */
  list<Item>(
    items: readonly Item[],
    columns: Readonly<Record<string, (item: Item) => string>>,
    options: TableOptions = {},
  ): void {
    this.result(items, () => {
      const rows = items.map((item) => Object.values(columns).map((textOf) => textOf(item)))
      const ids = columns.ID ? { ids: items.map(columns.ID) } : {}
      this.table(Object.keys(columns), rows, { ...ids, ...options })
    })
  }

  /** Prints a table. In quiet mode, prints the ids alone. */
  table(
    headings: readonly string[],
    rows: readonly (readonly string[])[],
    { ids, empty, colours, ...fit }: TableOptions = {},
  ): void {
    if (this.isQuiet) {
      for (const id of ids ?? rows.map((row) => row[0] ?? '')) this.line(id)
      return
    }
    if (rows.length === 0 && empty !== undefined) {
      this.note(empty)
      return
    }
    const width = this.stdout.isTTY ? (this.stdout.columns ?? 80) : Number.POSITIVE_INFINITY
    const paint = (text: string, column: number, row: number): string => {
      if (!this.#coloursOut) return text
      if (row < 0) return colour('dim', text)
      const name = colours?.(rows[row]?.[column] ?? '', column)
      return name ? colour(name, text) : text
    }
    for (const line of tableLines(headings, rows, { width, paint, ...fit })) this.stdout.write(`${line}\n`)
  }

  /** Prints names and values, one pair a line. */
  fields(pairs: readonly (readonly [name: string, value: string | null | undefined])[]): void {
    const shown = pairs.filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== undefined)
    const width = Math.max(...shown.map(([name]) => name.length))
    for (const [name, value] of shown) {
      const label = `${name.padEnd(width)}  `
      this.stdout.write(`${this.#coloursOut ? colour('dim', label) : label}${cleanText(value)}\n`)
    }
  }

  /** Prints a remark on stderr, except in quiet mode and with --json. */
  note(text: string): void {
    if (!this.isJson && !this.isQuiet) this.#writeError(cleanText(text))
  }

  /** Prints a warning on stderr. Quiet mode does not hide it. */
  warn(text: string): void {
    const label = this.#coloursError ? colour('yellow', 'Warning:') : 'Warning:'
    this.#writeError(`${label} ${cleanText(text)}`)
  }

  /** Prints a failure on stderr: a sentence, or an object with --json. */
  failure(code: string, message: string, exitCode: number): void {
    this.#status.clear()
    if (this.isJson) {
      this.stderr.write(`${cleanJson({ error: { code, message, exitCode } })}\n`)
      return
    }
    const label = this.#coloursError ? colour('red', 'Error:') : 'Error:'
    this.stderr.write(`${label} ${cleanText(message)}\n`)
  }

  /** Shows a spinner while the work takes longer than 300 ms. */
  async wait<T>(label: string, work: Promise<T>): Promise<T> {
    const end = this.#status.spin(cleanText(label))
    try {
      return await work
    } finally {
      end()
    }
  }

  /** Shows the progress of a transfer. */
  transfer(label: string): Transfer {
    const began = Date.now()
    let [done, total] = [0, null as number | null]
    const clean = cleanText(label)
    const end = this.#status.follow((width) =>
      transferLine({ label: clean, done, total, elapsedMs: Date.now() - began }, width),
    )
    return {
      add: (bytes) => {
        done += bytes
      },
      setTotal: (bytes) => {
        total = bytes
      },
      end,
    }
  }

  /** Removes what is shown for the moment, before a program ends or takes the terminal. */
  clear(): void {
    this.#status.clear()
  }

  #writeError(text: string): void {
    this.#status.clear()
    this.stderr.write(`${text}\n`)
  }
}

/** Returns the colour of a cell, if it has one. */
export type Colours = (text: string, column: number) => ColourName | undefined

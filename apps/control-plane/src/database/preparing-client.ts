/**
 * A connection that lets PostgreSQL keep the plan of what is asked again and again: reading a Dock with its access takes
 * a third of the time so, a create's statement of many parts far less.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'

/** A text is prepared when it comes this often on one connection: what is asked once is not worth a plan. */
const asksMin = 3
/** Statements one connection keeps; those that come later are sent as they are. */
const statementsMax = 300

type Query = (...args: unknown[]) => Promise<pg.QueryResult>

/** Names of statements by their texts, the same on every connection. */
const names = new Map<string, string>()
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}

export class PreparingClient extends pg.Client {
  readonly #asks = new Map<string, number>()

  /** As the base has it; a text with values may be sent as a prepared statement. */
  override query = ((...args: unknown[]) => {
    const [text, values, ...rest] = args
    const query = super.query.bind(this) as unknown as Query
    if (typeof text !== 'string' || !Array.isArray(values)) return query(...args)
    return this.#isFrequent(text) ? query({ name: nameOf(text), text, values }, ...rest) : query(...args)
  }) as pg.Client['query']

  #isFrequent(text: string): boolean {
    const asks = (this.#asks.get(text) ?? 0) + 1
    if (asks > 1 || this.#asks.size < statementsMax) this.#asks.set(text, asks)
    return asks >= asksMin
  }
}

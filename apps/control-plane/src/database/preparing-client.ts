/**
 * A connection that prepares frequent statements, so that PostgreSQL reuses their plans. Reading a Dock with its access
 * check takes a third of the time; the large statement of a create gains even more.
 */
import { createHash } from 'node:crypto'
import pg from 'pg'

/** Number of uses on one connection from which a statement is prepared. */
const usesMin = 3
/** Number of statements whose uses one connection counts. Further statements are never prepared. */
const statementsMax = 300

type Query = (...args: unknown[]) => Promise<pg.QueryResult>

/**
 * Statements of libraries that return all columns. They are not prepared, because they would fail on this connection once
 * another process has added a column. Our own statements name their columns.
 */
const returnsAllColumns = /^\s*select \*|\breturning \*\s*$/i

/** Names of prepared statements by their text, the same on every connection. Null: the statement is not prepared. */
const names = new Map<string, string | null>()
const nameOf = (text: string): string | null => {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = returnsAllColumns.test(text) ? null : createHash('sha256').update(text).digest('base64url')
  names.set(text, name)
  return name
}

export class PreparingClient extends pg.Client {
  readonly #uses = new Map<string, number>()

  /** Like the base method, but sends a frequent text with values as a prepared statement. */
  override query = ((...args: unknown[]) => {
    const [text, values, ...rest] = args
    const query = super.query.bind(this) as unknown as Query
    if (typeof text !== 'string' || !Array.isArray(values)) return query(...args)
    const name = this.#isFrequent(text) ? nameOf(text) : null
    return name === null ? query(...args) : query({ name, text, values }, ...rest)
  }) as pg.Client['query']

  #isFrequent(text: string): boolean {
    const uses = (this.#uses.get(text) ?? 0) + 1
    if (uses > 1 || this.#uses.size < statementsMax) this.#uses.set(text, uses)
    return uses >= usesMin
  }
}

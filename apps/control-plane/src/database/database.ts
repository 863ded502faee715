/** The connection pool of a process, and transactions. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { PreparingClient } from './preparing-client.ts'
import type { Database } from './table-types.ts'

export type { Row } from './columns.ts'
export type { Database }

/** The connection pool, or a transaction on one of its connections. */
export type Db = Kysely<Database>
export type Tx = Transaction<Database>

/** Reads `bigint` columns as numbers, like the contract. They hold byte counts, which stay far below 2^53. */
const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
}

/** All queries look up by key, so the generic plan is always right; replanning often costs more than the query. */
const useGenericPlans = `set plan_cache_mode = 'force_generic_plan'`

/** Ignores the error of a broken connection: the next query on it fails. */
const ignore = (): void => undefined

export type DatabaseConnection = { url: string; db: Db; connections: pg.Pool; close(): Promise<void> }

/** Opens a connection pool. A lost idle connection is reported to `onIdleError` and replaced. */
export function openDatabase(options: {
  url: string
  maxConnections?: number
  /** How long a query waits for a free connection. */
  connectTimeoutMs?: number
  /** Time after which PostgreSQL cancels a statement. 0, the default, means never. */
  statementTimeoutMs?: number
  onIdleError?: (error: Error) => void
}): DatabaseConnection {
  const settings = `${useGenericPlans}; set statement_timeout = ${Math.trunc(options.statementTimeoutMs ?? 0)}`
  const connections = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    application_name: 'dock-control-plane',
    types: numbersForBigints,
    Client: PreparingClient,
  })
  connections.on('error', (error) => options.onIdleError?.(error))
  connections.on('connect', (client) => {
    // The pool listens for errors only while a connection is idle, and an unheard error would end the process. It
    // discards a broken connection once the transaction that holds it has ended.
    client.on('error', ignore)
    client.query(settings).catch(ignore)
  })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: connections }) })
  return { url: options.url, db, connections, close: () => db.destroy() }
}

/** Runs `work` in a transaction, which is committed if `work` resolves and rolled back if it rejects. */
export function withTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(work)
}

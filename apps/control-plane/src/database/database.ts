/** The database as the program sees it: one type for all tables, one pool a process. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { PreparingClient } from './preparing-client.ts'
import type { AccountTables } from './tables/accounts.ts'
import type { ConnectionTables } from './tables/connections.ts'
import type { DockTables } from './tables/docks.ts'
import type { KeyTables } from './tables/keys.ts'
import type { NotificationTables } from './tables/notifications.ts'
import type { OrganizationTables } from './tables/organizations.ts'
import type { SealingTables } from './tables/sealing.ts'

/** Every table; each group of modules owns its part. */
export type Database = AccountTables &
  ConnectionTables &
  DockTables &
  NotificationTables &
  SealingTables &
  OrganizationTables &
  KeyTables

/** What stores and operations take: the pool or a transaction on it. */
export type Db = Kysely<Database>
export type Tx = Transaction<Database>

/** Counts of bytes are `bigint` columns; none comes near 2^53, so they are read as numbers, as the contract has them. */
const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
}

/** Every query goes by keys: a plan for these very values is no better, and costs more than many a query itself. */
const planOnce = `set plan_cache_mode = 'force_generic_plan'`

/** A connection that broke at once tells so to whoever asks it something. */
const ignore = (): void => undefined

export type DatabaseConnection = { url: string; db: Db; pool: pg.Pool; close(): Promise<void> }

/** Opens a pool of at most `maxConnections`. A lost idle connection is reported to `onIdleError` and replaced. */
export function openDatabase(options: {
  url: string
  maxConnections?: number
  /** How long a query waits for a connection. */
  connectTimeoutMs?: number
  /** After which PostgreSQL ends a statement; 0, the default: never. */
  statementTimeoutMs?: number
  onIdleError?: (error: Error) => void
}): DatabaseConnection {
  const settings = `${planOnce}; set statement_timeout = ${Math.trunc(options.statementTimeoutMs ?? 0)}`
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    application_name: 'dock-control-plane',
    types: numbersForBigints,
    Client: PreparingClient,
  })
  pool.on('error', (error) => options.onIdleError?.(error))
  pool.on('connect', (client) => void client.query(settings).catch(ignore))
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  return { url: options.url, db, pool, close: () => db.destroy() }
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it throws. */
export function withTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(work)
}

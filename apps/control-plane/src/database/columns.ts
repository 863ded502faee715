/**
 * Columns that a statement returns, by name. A statement with a star cannot be used: once another process has added a column,
 * its prepared form fails on that connection for good.
 */
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Database, tableColumns } from './table-types.ts'

type Table = keyof Database
type Column<T extends Table> = keyof Database[T] & string

/** A row of a table, as it is read. */
export type Row<T extends Table> = Selectable<Database[T]>

/** Returns all columns of a table, for the query builder. */
export function columnsOf<T extends Table, Alias extends string = T>(
  table: T,
  alias?: Alias,
): `${Alias}.${Column<T>}`[] {
  return tableColumns[table].map((column) => `${alias ?? table}.${column}` as `${Alias}.${Column<T>}`)
}

/**
 * Returns all columns of a table as SQL, each after `alias` if it is given: the table's name in the statement. It is one
 * text, which costs nothing to compile.
 */
export function columnList(table: Table, alias?: string): RawBuilder<unknown> {
  return sql.raw(tableColumns[table].map((column) => (alias ? `${alias}.${column}` : column)).join(', '))
}

/** A row with other names for its columns. */
export type Renamed<T extends Table, Names extends Readonly<Record<string, Column<T>>>> = {
  -readonly [Name in keyof Names]: Row<T>[Names[Name] & keyof Row<T>]
}

/** Returns the columns of a {@link Renamed} row as SQL. `alias` is the table's name in the statement. */
export function renamedColumns(alias: string, names: Readonly<Record<string, string>>): RawBuilder<unknown> {
  const columns = Object.entries(names).map(([name, column]) => `${alias}.${column} as "${name}"`)
  return sql.raw(columns.join(', '))
}

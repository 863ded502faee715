/**
 * Writes the types of all tables from the migrated database. kysely-codegen is not used, because a narrower type that it
 * is told replaces a column's whole type: whether the column may be null and has a default would be written by hand again.
 * It also knows neither lists of `check` constraints nor columns that only the database writes.
 */
import type { Db } from '@dock/control-plane/database'
import { sql } from 'kysely'
import { narrowTypes, typeSources } from './narrow-types.ts'

type Column = {
  table: string
  name: string
  /** Name of the type, of an array the type of its elements. */
  type: string
  isArray: boolean
  isNullable: boolean
  hasDefault: boolean
  /** True if statements cannot write it. */
  isComputed: boolean
  /** The values that a `check` constraint lists, or null. */
  listed: string[] | null
}

/** How the database driver returns and takes values of a type. */
const typeScriptTypes: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  float4: 'number',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  // The connection parses it as a number; see database.ts.
  int8: 'number',
  numeric: 'string',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
  xid8: 'string',
}

/** Views are left out: PostgreSQL does not know which of their columns may be null. */
const readColumns = async (db: Db): Promise<Column[]> => {
  const { rows } = await sql<Column & { constraint: string | null }>`
    select c.relname as "table", a.attname as name, coalesce(e.typname, t.typname) as type,
      e.typname is not null as "isArray", not a.attnotnull as "isNullable", a.atthasdef as "hasDefault",
      a.attgenerated <> '' or a.attidentity = 'a' as "isComputed",
      (select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c'
        and k.conkey = array[a.attnum] and pg_get_constraintdef(k.oid) like '%= ANY (ARRAY[%') as constraint
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_type e on e.oid = t.typelem and t.typcategory = 'A'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname, a.attnum`.execute(db)
  return rows.map(({ constraint, ...column }) => ({
    ...column,
    listed: constraint === null ? null : [...constraint.matchAll(/'([^']*)'/g)].map((match) => match[1]!),
  }))
}

const elementType = ({ table, name, type, listed }: Column): string => {
  if (listed) return listed.map((value) => `'${value}'`).join(' | ')
  const found = typeScriptTypes[type]
  if (found === undefined) throw new Error(`${table}.${name}: add the type ${type} to typeScriptTypes`)
  return found
}

const typeOf = (column: Column): string => {
  const { table, name, type, isArray, isNullable, hasDefault, isComputed } = column
  const orNull = isNullable ? ' | null' : ''
  const narrow = narrowTypes[`${table}.${name}`]
  if (type === 'jsonb') {
    // It is written as text: the driver would turn a JavaScript array into an array of PostgreSQL.
    const written = `string${orNull}`
    const read = narrow === undefined ? 'unknown' : narrow + orNull
    return `ColumnType<${read}, ${written}${hasDefault ? ' | undefined' : ''}, ${written}>`
  }
  const value = (narrow ?? elementType(column) + (isArray ? '[]' : '')) + orNull
  if (isComputed) return `GeneratedAlways<${value}>`
  return hasDefault ? `Generated<${value}>` : value
}

const importsFor = (body: string): string[] =>
  Object.entries(typeSources).flatMap(([source, names]) => {
    const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(body))
    return used.length === 0 ? [] : [`import type { ${used.join(', ')} } from '${source}'`]
  })

/** Returns the text of `src/database/table-types.ts`. */
export async function generateTableTypes(db: Db): Promise<string> {
  const columns = await readColumns(db)
  const known = new Set(columns.map(({ table, name }) => `${table}.${name}`))
  const unknown = Object.keys(narrowTypes).filter((column) => !known.has(column))
  if (unknown.length > 0) throw new Error(`narrow-types.ts names columns that do not exist: ${unknown}`)
  const tables = Map.groupBy(columns, ({ table }) => table)
  const body = [...tables].flatMap(([table, own]) => [
    `  ${table}: {`,
    ...own.map((column) => `    ${column.name}: ${typeOf(column)}`),
    '  }',
  ])
  return [
    '/** The types of all tables. script/generate-table-types writes this file from the migrated database. */',
    ...importsFor(body.join('\n')),
    '',
    'export type Database = {',
    ...body,
    '}',
    '',
    '/** The columns of each table, in their order in the database. */',
    'export const tableColumns = {',
    ...[...tables].map(([table, own]) => `  ${table}: [${own.map(({ name }) => `'${name}'`).join(', ')}],`),
    '} as const satisfies { [Table in keyof Database]: readonly (keyof Database[Table])[] }',
    '',
  ].join('\n')
}

/**
 * A table is written by its owner only (decision 007). The owners are the table "Who writes which table" of
 * docs/architecture.md, and nothing else.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { dynamicTable, findTableWrites } from './table-writes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sources = join(root, 'apps/control-plane/src')
const read = (path: string): string => readFileSync(path, 'utf8')

/** Writes that stay, each with its reason. */
const exceptions: Readonly<Record<string, string>> = {
  'sealing/rotate-keys.ts':
    'Seals values again in the columns that their owners declare as `SealedColumn`, in one way for all of them: it writes the same plaintext again, and only sealing can.',
}

type Owner = { table: string; owner: string }

const owners: readonly Owner[] = (() => {
  const page = read(join(root, 'docs/architecture.md'))
  const section = /^## Who writes which table$([\s\S]*?)^## /m.exec(page)?.[1] ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].flatMap(({ 1: owner, 2: tables }) =>
    [...tables!.matchAll(/`(\w+)`/g)].map(({ 1: table }) => ({ table: table!, owner: owner! })),
  )
})()

/** Returns the tables that exist after all migrations. */
const migratedTables = (): string[] => {
  const tables = new Set<string>()
  const files = globSync('database/migrations/*.sql', { cwd: sources }).sort()
  for (const file of ['database/migrate.ts', ...files])
    for (const { 1: verb, 2: table } of read(join(sources, file)).matchAll(
      /^\s*(?:await client\.query\(`)?(create|drop)\s+(?:unlogged\s+)?table\s+(?:if\s+(?:not\s+)?exists\s+)?(\w+)/gim,
    )) {
      if (verb!.toLowerCase() === 'create') tables.add(table!)
      else tables.delete(table!)
    }
  return [...tables].sort()
}

/** Returns the module or folder of a source file, as docs/architecture.md names it. */
const moduleOf = (file: string): string => /^modules\/[^/]+|^[^/]+/.exec(file)![0]

const foreignWrites = (file: string, source: string): string[] =>
  findTableWrites(source)
    .map((write) => ({ ...write, owner: owners.find(({ table }) => table === write.table)?.owner }))
    .filter(({ owner }) => owner !== moduleOf(file))
    .map(({ line, verb, table, owner }) => `${file}:${line}: ${verb} ${table}, owned by ${owner ?? 'nobody'}`)

describe('tables', () => {
  const files = globSync('**/*.ts', { cwd: sources })
    .filter((file) => !file.endsWith('.test.ts'))
    .sort()

  it('are written by their owner only', () => {
    const found = files
      .filter((file) => !(file in exceptions))
      .flatMap((file) => foreignWrites(file, read(join(sources, file))))
    expect(found).toEqual([])
  })

  it('have an owner each, and every listed table exists', () => {
    expect(owners.map(({ table }) => table).sort()).toEqual(migratedTables())
  })

  it('have owners that exist', () => {
    const folders = new Set(files.map(moduleOf))
    expect(owners.map(({ owner }) => owner).filter((owner) => !folders.has(owner))).toEqual([])
  })

  it('have no exception that is needed no more', () => {
    for (const file of Object.keys(exceptions))
      expect(foreignWrites(file, read(join(sources, file))), file).not.toEqual([])
  })
})

describe('the search', () => {
  it.each([
    ['a statement', 'sql`update docks set name = 1`', 'docks'],
    ['a statement over two lines', 'sql`insert\n  into docks (id) values (1)`', 'docks'],
    ['a fragment', 'sql`placed as (update hosts set @{size} from candidate c)`', 'hosts'],
    ['a delete with an alias', 'sql`delete from docks d using hosts h`', 'docks'],
    ['capitals, a schema and quotes', 'sql`DELETE FROM public."docks"`', 'docks'],
    ['a merge', 'sql`merge into docks d using x on true`', 'docks'],
    ['a truncation', 'sql`truncate table docks`', 'docks'],
    ['a truncation of several tables', 'sql`truncate docks, hosts`', dynamicTable],
    ['a table given as a literal', "sql`delete from @{sql.table('docks')}`", 'docks'],
    ['a table known at run time only', 'sql`update @{sql.table(column.table)} set x = 1`', dynamicTable],
    ['the query builder', "db\n  .updateTable('docks as d')\n  .set({})", 'docks'],
    ['the query builder with a variable', 'db.deleteFrom(table)', dynamicTable],
    ['text that is no template', "sql.raw('update docks set x = 1')", 'docks'],
  ])('finds %s', (_, source, table) => {
    // The samples write `@{` where a source has `${`.
    expect(findTableWrites(source.replaceAll('@{', '${')).map((write) => write.table)).toEqual([table])
  })

  it.each([
    ['a lock', 'sql`select 1 from docks for update`'],
    ['a lock of one table', 'sql`select 1 from docks d for no key update of d`'],
    ['what a conflict does', 'sql`on conflict (id) do update set name = 1`'],
    ['a comment', '/** Update docks only here. */\n// delete from docks'],
    ['a read', "db.selectFrom('docks')"],
  ])('ignores %s', (_, source) => {
    expect(findTableWrites(source)).toEqual([])
  })

  it('finds a foreign write by the module of its file', () => {
    const write = 'sql`update docks set name = 1`'
    expect(foreignWrites('modules/docks/core/x.ts', write)).toEqual([])
    expect(foreignWrites('modules/ports/x.ts', write)).toEqual([
      'modules/ports/x.ts:1: update docks, owned by modules/docks',
    ])
    expect(foreignWrites('main.ts', write)).toHaveLength(1)
    expect(foreignWrites('modules/docks/x.ts', 'sql`update unheard_of set x = 1`')).toHaveLength(1)
  })
})

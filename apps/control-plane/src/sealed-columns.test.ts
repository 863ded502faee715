import { createFreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { sealedColumns } from './sealed-columns.ts'

it('every declared sealed column exists, and so do its row id and owner columns', async () => {
  const database = await createFreshDatabase()
  try {
    const { rows } = await sql<{ name: string }>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public'`.execute(database.db)
    const present = new Set(rows.map(({ name }) => name))
    for (const { table, column, rowIdColumn, ownerColumn } of sealedColumns)
      for (const name of [column, rowIdColumn, ownerColumn]) expect(present).toContain(`${table}.${name}`)
    const text = sealedColumns.map(({ table, column }) => `${table}.${column}`)
    expect(new Set(text).size).toBe(text.length)
  } finally {
    await database.drop()
  }
})

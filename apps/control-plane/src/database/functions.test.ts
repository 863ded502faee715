/** The files in functions/ are the one current text of each SQL function. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dockStates, isReadyDockState } from '@dock/contract'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { functionsFolder, includeLine, migrationsFolder } from './migrate.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

const filesIn = async (folder: string): Promise<{ name: string; text: string }[]> =>
  Promise.all(
    (await readdir(folder))
      .sort()
      .map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
  )

const functionsOfDatabase = async (): Promise<Record<string, string>> => {
  const { rows } = await sql<{ name: string; text: string }>`
    select proname as name, pg_get_functiondef(oid) as text from pg_proc
    where pronamespace = 'public'::regnamespace order by proname`.execute(database.db)
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]))
}

describe('functions', () => {
  it('stand once in the files, as they are in the database', async () => {
    const files = await filesIn(functionsFolder)
    const names = files.flatMap(({ text }) =>
      [...text.matchAll(/^create or replace function (\w+)/gm)].map((match) => match[1]!),
    )
    const migrated = await functionsOfDatabase()
    expect(names.toSorted()).toEqual(Object.keys(migrated))
    for (const { text } of files) await sql.raw(text).execute(database.db)
    expect(await functionsOfDatabase()).toEqual(migrated)
  })

  it('are put in place by a migration after each change', async () => {
    const migrations = (await filesIn(migrationsFolder)).map(({ text }) => text).join('\n')
    for (const file of await filesIn(functionsFolder)) {
      const lines = migrations
        .split('\n')
        .filter((line) => line.startsWith(`-- include functions/${file.name} `))
      expect(lines.at(-1), 'add a migration with this line').toBe(includeLine(file.name, file.text))
    }
  })
})

/** Functions in SQL cannot read the contract, so their states are compared with it. */
describe('is_billed_dock', () => {
  it('is true for ready Docks', async () => {
    for (const state of dockStates) {
      const { rows } = await sql<{
        billed: boolean
      }>`select is_billed_dock(${state}, null) as billed`.execute(database.db)
      expect(rows, state).toEqual([{ billed: isReadyDockState(state) }])
    }
  })
})

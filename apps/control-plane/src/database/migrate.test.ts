import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmptyDatabase, dropDatabase } from '@dock/testkit'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdInstanceLock } from './instance-lock.ts'
import { functionsFolder, includeLine, migrate, migrationsFolder } from './migrate.ts'

let url: string
let folder: string

beforeEach(async () => {
  url = await createEmptyDatabase()
  folder = await mkdtemp(join(tmpdir(), 'dock-migrations-'))
  await cp(migrationsFolder, folder, { recursive: true })
})
afterEach(async () => {
  await dropDatabase(url)
  await rm(folder, { recursive: true, force: true })
})

const query = async <Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

const tableExists = async (name: string): Promise<boolean> =>
  (await query<{ found: boolean }>('select to_regclass($1) is not null as found', [name]))[0]!.found

describe('migrate', () => {
  it('applies each migration once', async () => {
    expect(await migrate(url)).toContain('001_accounts.sql')
    expect(await migrate(url)).toEqual([])
  })

  it('works when two processes start at once', async () => {
    const [first, second] = await Promise.all([migrate(url), migrate(url)])
    expect([first.length, second.length].sort()[0]).toBe(0)
    expect(await tableExists('users')).toBe(true)
  })

  it('lets a migration take longer than the statement timeout', async () => {
    const [database] = await query<{ name: string }>('select current_database() as name')
    await query(`alter database "${database!.name}" set statement_timeout = 50`)
    await writeFile(join(folder, '997_slow.sql'), 'select pg_sleep(0.2)')
    expect(await migrate(url, folder)).toContain('997_slow.sql')
  })

  it('puts the current text of functions in place where a migration includes them', async () => {
    await migrate(url)
    const text = await readFile(join(functionsFolder, 'metering.sql'), 'utf8')
    await query("create or replace function metering_day() returns date language sql as 'select null::date'")
    const before = includeLine('metering.sql', 'an earlier text')
    await writeFile(join(folder, '997_day.sql'), `create table tomorrow ();\n${before}\n`)
    expect(await migrate(url, folder)).toEqual(['997_day.sql'])
    expect(await query('select metering_day() is not null as set')).toEqual([{ set: true }])
    expect(includeLine('metering.sql', text)).not.toBe(before)
  })

  it('refuses a database that is newer than the program', async () => {
    await writeFile(join(folder, '999_future.sql'), 'create table future ()')
    await migrate(url, folder)
    await expect(migrate(url)).rejects.toThrow('newer than this program')
  })

  it('refuses a migration that was edited after it was applied', async () => {
    await writeFile(join(folder, '998_mine.sql'), 'create table mine ()')
    await migrate(url, folder)
    await writeFile(join(folder, '998_mine.sql'), 'create table mine (n int)')
    await expect(migrate(url, folder)).rejects.toThrow('998_mine.sql was edited')
  })

  it('rolls back a migration that fails', async () => {
    await writeFile(join(folder, '998_broken.sql'), 'create table half (); select 1/0')
    await expect(migrate(url, folder)).rejects.toThrow('998_broken.sql failed')
    expect(await tableExists('half')).toBe(false)
    expect(await tableExists('users')).toBe(true)
  })

  it('names the migration in which the connection ended', async () => {
    await writeFile(join(folder, '998_ends.sql'), 'select pg_terminate_backend(pg_backend_pid())')
    await expect(migrate(url, folder)).rejects.toThrow('998_ends.sql failed: terminating connection')
  })
})

describe('holdInstanceLock', () => {
  it('refuses a second control plane until the first has ended', async () => {
    const first = await holdInstanceLock(url, () => undefined)
    await expect(holdInstanceLock(url, () => undefined, 0)).rejects.toThrow('Another control plane')
    const waiting = holdInstanceLock(url, () => undefined, 5_000)
    await first.release()
    await (await waiting).release()
  })
})

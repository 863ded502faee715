import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AdminFile, ensureFirstUser } from './first-person.ts'

let database: FreshDatabase
let controlDir: string
beforeEach(async () => {
  database = await createFreshDatabase()
  controlDir = await mkdtemp(join(tmpdir(), 'dock-first-'))
})
afterEach(async () => {
  await database.drop()
  await rm(controlDir, { recursive: true, force: true })
})

const ensure = (baseUrl = 'http://127.0.0.1:8080', folder = controlDir): Promise<boolean> =>
  ensureFirstUser(database.db, {
    controlDir: folder,
    baseUrl,
    image: 'debian-13',
    email: 'Admin@Dock.localhost',
    password: undefined,
    now: new Date(),
  })
const file = async (): Promise<AdminFile> =>
  JSON.parse(await readFile(join(controlDir, 'admin.json'), 'utf8')) as AdminFile
const people = async (): Promise<number> =>
  Number((await sql<{ n: string }>`select count(*) as n from users`.execute(database.db)).rows[0]?.n)

it('creates one user once, and a file that only its owner can read', async () => {
  expect(await ensure()).toBe(true)
  const first = await file()
  expect(first).toMatchObject({ email: 'admin@dock.localhost', image: 'debian-13' })
  expect(first.password.length).toBeGreaterThan(16)
  expect((await stat(join(controlDir, 'admin.json'))).mode & 0o777).toBe(0o600)
  expect(await ensure()).toBe(false)
  expect(await file()).toEqual(first)
  expect(await people()).toBe(1)
})

it('creates one user when two instances start concurrently', async () => {
  expect((await Promise.all([ensure(), ensure()])).sort()).toEqual([false, true])
  expect(await people()).toBe(1)
})

it('updates a changed base URL and keeps the rest of the file', async () => {
  await ensure()
  const first = await file()
  await ensure('http://127.0.0.1:9000')
  expect(await file()).toEqual({ ...first, baseUrl: 'http://127.0.0.1:9000' })
})

it('creates no user when the file cannot be written', async () => {
  await expect(ensure(undefined, join(controlDir, 'absent'))).rejects.toThrow()
  expect(await people()).toBe(0)
})

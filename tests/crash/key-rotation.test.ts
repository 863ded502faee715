/** script/rotate-keys as a process, killed before and after each change that stays, while a server reads and writes. */
import { join } from 'node:path'
import { newUuid, tryCommand } from '@dock/foundation'
import { type FreshDatabase, freshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealedColumns } from '../../apps/control-plane/src/sealed-columns.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../apps/control-plane/src/sealing/index.ts'
import { createFaultFolder, type FaultFolder } from './fault-folder.ts'

const program = join(import.meta.dirname, '../../apps/control-plane/src/rotate-keys.ts')
const providers = ['anthropic', 'openai', 'openrouter'] as const
const entry = newRingEntry()
const organizationId = newUuid()
const owner = { kind: 'organization', id: organizationId } as const
const rows = providers.map((provider) => ({ id: newUuid(), provider }))
const placeOf = (rowId: string) => ({ table: 'provider_keys', column: 'sealed_key', rowId })

let database: FreshDatabase
let faults: FaultFolder
/** By how much the server's time is ahead: the rotations' own keys are made old instead. */
let agedMs = 0
/** What each row was last given. */
const wanted = new Map<string, string>()

const newSealer = () => {
  const clock = { now: () => new Date(Date.now() + agedMs), after: () => () => undefined }
  return createSealer({ db: database.db, clock, ring: parseKeyRing(entry), columns: sealedColumns })
}
/** Of the server, which runs through all rotations and keeps the keys that it has read. */
let server: ReturnType<typeof newSealer>

beforeAll(async () => {
  database = await freshDatabase()
  faults = await createFaultFolder()
  server = newSealer()
  await sql`insert into organizations (id, name, slug) values (${organizationId}, 'O', 'o')`.execute(
    database.db,
  )
  for (const { id, provider } of rows)
    await sql`insert into provider_keys (id, organization_id, provider, sealed_key, updated_at)
      values (${id}, ${organizationId}, ${provider}, '', now())`.execute(database.db)
})
afterAll(async () => {
  await database.drop()
  await faults.remove()
})

const write = async (): Promise<void> => {
  for (const { id } of rows) {
    const text = newUuid()
    const sealed = await server.seal(owner, placeOf(id), text)
    await sql`update provider_keys set sealed_key = ${sealed} where id = ${id}`.execute(database.db)
    wanted.set(id, text)
  }
}

/** Every secret reads as it was written: in the server that runs on, and in one that starts now. */
const expectAllReadable = async (): Promise<void> => {
  const found = await sql<{ id: string; sealed: string }>`select id, sealed_key as sealed
    from provider_keys`.execute(database.db)
  for (const sealer of [server, newSealer()])
    for (const { id, sealed } of found.rows)
      expect(await sealer.open(owner, placeOf(id), sealed)).toBe(wanted.get(id))
}

const rotate = () =>
  tryCommand(process.execPath, [program], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      DOCK_SECRET_KEYS: entry,
      DOCK_FAULTS: faults.path,
    },
  })
/** As if the hour were over in which another process may still seal with a retired key. */
const letKeysAge = async (): Promise<void> => {
  agedMs += 3 * 3_600_000
  await sql`update data_keys set retired_at = retired_at - interval '3 hours'`.execute(database.db)
}
const kids = async (): Promise<string[]> =>
  (
    await sql<{ id: string }>`select id from data_keys where owner_id = ${organizationId}`.execute(
      database.db,
    )
  ).rows.map(({ id }) => id)

it('leaves every secret readable wherever it is killed, and nothing on an old key in the end', {
  timeout: 600_000,
}, async () => {
  await write()
  await rotate()
  await letKeysAge()
  const places = await faults.placesOf(rotate)
  expect(places.toSorted()).toEqual(
    [
      'delete:after',
      'delete:before',
      'key:after',
      'key:before',
      'key:between',
      'secret:after',
      'secret:before',
    ].map((place) => `rotate:${place}`),
  )
  for (const place of places) {
    // Of the secrets the second: one is sealed again by then, one is not.
    const passes = place.startsWith('rotate:secret') ? 1 : 0
    await write()
    await letKeysAge()
    await faults.clear()
    await faults.arm(place, `KILL ${passes}`)
    const { stdout } = await rotate()
    expect([place, passes, faults.hasHit(place), stdout]).toEqual([place, passes, true, ''])
    await expectAllReadable()
  }
  await faults.clear()
  const before = await kids()
  await letKeysAge()
  expect((await rotate()).stdout).toBe('Created new data keys for 1 owners and sealed 3 secrets with them.\n')
  await letKeysAge()
  await rotate()
  await expectAllReadable()
  const after = await kids()
  expect(after.filter((kid) => before.includes(kid))).toEqual([])
  const left = await sql<{ kid: string }>`select distinct split_part(sealed_key, '.', 2) as kid
    from provider_keys`.execute(database.db)
  expect(left.rows).toHaveLength(1)
  expect(after).toContain(left.rows[0]?.kid)
})

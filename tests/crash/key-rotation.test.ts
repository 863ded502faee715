/** Kills script/admin rotate-keys before and after each committed change, while a server reads and writes secrets. */
import { join } from 'node:path'
import { newUuid, systemClock, tryCommand } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keySealedColumns as columns } from '../../apps/control-plane/src/modules/keys/sealed-columns.ts'
import {
  createSealer,
  newRingEntry,
  parseKeyRing,
  rotateDataKeys,
} from '../../apps/control-plane/src/sealing/index.ts'
import { createFaultFolder, type FaultFolder } from './fault-folder.ts'

const program = join(import.meta.dirname, '../../apps/control-plane/src/operate/main.ts')
const providers = ['anthropic', 'openai', 'openrouter'] as const
const entry = newRingEntry()
const organizationId = newUuid()
const owner = { kind: 'organization', id: organizationId } as const
const rows = providers.map((provider) => ({ id: newUuid(), provider }))
/** Every fault point of a rotation, in the order in which it passes them. */
const places = [
  'key:before',
  'key:between',
  'key:after',
  'secret:before',
  'secret:after',
  'delete:before',
  'delete:after',
].map((place) => `rotate:${place}`)
const placeOf = (rowId: string) => ({ table: 'provider_keys', column: 'sealed_key', rowId })

let database: FreshDatabase
let faults: FaultFolder
/** The server's clock. For the rotation, whose clock is real, the keys in the database are made older instead. */
const clock = createVirtualClock(new Date())
/** The last secret written to each row. */
const wanted = new Map<string, string>()

const newSealer = () => createSealer({ db: database.db, clock, ring: parseKeyRing(entry), columns })
/** The sealer of a server that runs during all rotations and caches keys. */
let server: ReturnType<typeof newSealer>

beforeAll(async () => {
  database = await createFreshDatabase()
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

/** Every secret reads as it was written, in the running server and in a newly started one. */
const expectAllReadable = async (): Promise<void> => {
  const found = await sql<{ id: string; sealed: string }>`select id, sealed_key as sealed
    from provider_keys`.execute(database.db)
  for (const sealer of [server, newSealer()])
    for (const { id, sealed } of found.rows)
      expect(await sealer.open(owner, placeOf(id), sealed)).toBe(wanted.get(id))
}

const rotate = () =>
  tryCommand(process.execPath, [program, 'rotate-keys'], {
    env: {
      PATH: process.env.PATH,
      // The program loads much of the control plane, and every pass starts it.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: database.url,
      DOCK_SECRET_KEYS: entry,
      DOCK_FAULTS: faults.path,
    },
  })
/** What the program does, for passes in which nothing is killed. */
const rotateHere = async (): Promise<void> => {
  const ring = parseKeyRing(entry)
  const sealer = createSealer({ db: database.db, clock: systemClock, ring, columns })
  await rotateDataKeys({ db: database.db, clock: systemClock, ring, sealer, columns })
}
/** Makes retired keys so old that no process can still seal with them. */
const letKeysAge = async (): Promise<void> => {
  clock.advance(3 * 3_600_000)
  await sql`update data_keys set retired_at = retired_at - interval '3 hours'`.execute(database.db)
}
const kids = async (): Promise<string[]> =>
  (
    await sql<{ id: string }>`select id from data_keys where owner_id = ${organizationId}`.execute(
      database.db,
    )
  ).rows.map(({ id }) => id)

it('leaves every secret readable wherever it is killed, and in the end no secret uses an old key', {
  timeout: 600_000,
}, async () => {
  await write()
  await rotateHere()
  for (const place of places) {
    // Killed at the second secret: by then one secret is resealed and one is not.
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
  let stdout = ''
  const passed = await faults.placesOf(async () => {
    stdout = (await rotate()).stdout
  })
  expect(stdout).toBe('Created new data keys for 1 owners and sealed 3 secrets with them.\n')
  // None was left out above.
  expect(passed.toSorted()).toEqual(places.toSorted())
  await letKeysAge()
  await rotateHere()
  await expectAllReadable()
  const after = await kids()
  expect(after.filter((kid) => before.includes(kid))).toEqual([])
  const left = await sql<{ kid: string }>`select distinct split_part(sealed_key, '.', 2) as kid
    from provider_keys`.execute(database.db)
  expect(left.rows).toHaveLength(1)
  expect(after).toContain(left.rows[0]?.kid)
})

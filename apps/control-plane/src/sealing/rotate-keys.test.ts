import { createLogger, newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { type KyselyPlugin, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Db } from '../database/database.ts'
import { type KeyRing, newRingEntry, parseKeyRing } from './key-ring.ts'
import { createKeyUpkeep } from './key-upkeep.ts'
import { finishRotations, type RotationContext, rewrapDataKeys, rotateDataKey } from './rotate-keys.ts'
import type { KeyOwner, SealedColumn } from './sealed-place.ts'
import { createSealer } from './sealer.ts'

const hourMs = 3_600_000
const columns: SealedColumn[] = ['one', 'two'].map((column) => ({
  table: 'things',
  column,
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}))

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
  await sql`create table things (id uuid primary key, organization_id uuid, one text, two text)`.execute(
    database.db,
  )
})
afterAll(() => database.drop())

let clock: VirtualClock
let owners: KeyOwner[]
let secrets: { owner: KeyOwner; rowId: string; column: string; text: string }[]
const oldEntry = newRingEntry()
const oldRing = parseKeyRing(oldEntry)

const context = (ring: KeyRing, db: Db = database.db): RotationContext => ({
  db,
  clock,
  ring,
  columns,
  sealer: createSealer({ db, clock, ring, columns }),
})

const seed = async (): Promise<void> => {
  clock = createVirtualClock()
  await sql`truncate things, data_keys`.execute(database.db)
  owners = [newUuid(), newUuid()].map((id) => ({ kind: 'organization', id }))
  secrets = []
  const { sealer } = context(oldRing)
  for (const owner of owners)
    for (const text of ['a', 'b']) {
      const rowId = newUuid()
      const sealedOf = async (column: string): Promise<string> => {
        secrets.push({ owner, rowId, column, text: `${text} ${column}` })
        return sealer.seal(owner, { table: 'things', column, rowId }, `${text} ${column}`)
      }
      await sql`insert into things (id, organization_id, one, two)
        values (${rowId}, ${owner.id}, ${await sealedOf('one')}, ${await sealedOf('two')})`.execute(
        database.db,
      )
    }
}
beforeEach(seed)

/** Reads every secret with this ring, like a newly started process. */
const expectAllReadable = async (ring: KeyRing): Promise<void> => {
  const { sealer } = context(ring)
  for (const { owner, rowId, column, text } of secrets) {
    const found = await sql<{ sealed: string }>`
      select ${sql.ref(column)} as sealed from things where id = ${rowId}`.execute(database.db)
    const opened = await sealer.open(owner, { table: 'things', column, rowId }, found.rows[0]!.sealed)
    expect(opened).toBe(text)
  }
}
const kids = async (owner: KeyOwner): Promise<string[]> => {
  const found = await sql<{ id: string }>`
    select id from data_keys where owner_id = ${owner.id} order by retired_at nulls first`.execute(
    database.db,
  )
  return found.rows.map((row) => row.id)
}

/** A database that fails from its nth statement on. Earlier statements keep their effect, as after a kill. */
const dyingAt = (statement: number): Db => {
  let count = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (++count > statement) throw new Error('killed')
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return database.db.withPlugin(plugin)
}

/** Repeats the rotation, killed one statement later each time, until it completes. */
const killEverywhere = async (
  rotate: (db: Db) => Promise<unknown>,
  check: () => Promise<void>,
): Promise<number> => {
  for (let statement = 0; ; statement++) {
    const killed = await rotate(dyingAt(statement)).then(
      () => false,
      (error: Error) => {
        expect(error.message).toBe('killed')
        return true
      },
    )
    await check()
    if (!killed) return statement
    expect(statement).toBeLessThan(200)
  }
}

describe('rotating the ring', () => {
  it('rewraps every data key, so that the old ring key can be removed', async () => {
    const newEntry = newRingEntry()
    const both = parseKeyRing(`${newEntry},${oldEntry}`)
    const statements = await killEverywhere(
      (db) => rewrapDataKeys(context(both, db)),
      () => expectAllReadable(both),
    )
    expect(statements).toBeGreaterThan(2)
    expect(await rewrapDataKeys(context(both))).toBe(0)
    await expectAllReadable(parseKeyRing(newEntry))
    await expect(expectAllReadable(oldRing)).rejects.toThrow('lacks the key')
  })
})

describe('rotating a data key', () => {
  it('reseals all values of its owner, and none of others', async () => {
    const [owner, other] = owners as [KeyOwner, KeyOwner]
    const [[before], untouched] = [await kids(owner), await kids(other)]
    expect(await rotateDataKey(context(oldRing), owner)).toBe(4)
    await expectAllReadable(oldRing)
    const left = await sql<{ n: number }>`select count(*)::int as n from things
      where one like ${`v1.${before}.%`} or two like ${`v1.${before}.%`}`.execute(database.db)
    expect(left.rows[0]?.n).toBe(0)
    expect(await kids(other)).toEqual(untouched)
  })

  it('leaves every secret readable, whichever statement it is killed at', async () => {
    const statements = await killEverywhere(
      async (db) => {
        await seed()
        await rotateDataKey(context(oldRing, db), owners[0]!)
      },
      () => expectAllReadable(oldRing),
    )
    expect(statements).toBeGreaterThan(8)
  })

  it('keeps the retired key while another process may seal with it, and deletes it later', async () => {
    const owner = owners[0]!
    const late = context(oldRing).sealer
    const { rowId, column } = secrets[0]!
    const place = { table: 'things', column, rowId }
    await late.seal(owner, place, 'read into its memory')
    await rotateDataKey(context(oldRing), owner)
    const sealedLate = await late.seal(owner, place, 'late')
    await sql`update things set ${sql.ref(column)} = ${sealedLate} where id = ${rowId}`.execute(database.db)
    secrets[0]!.text = 'late'
    await finishRotations(context(oldRing))
    expect(await kids(owner)).toHaveLength(2)
    await expectAllReadable(oldRing)
    clock.advance(2 * hourMs)
    await killEverywhere(
      (db) => finishRotations(context(oldRing, db)),
      () => expectAllReadable(oldRing),
    )
    expect(await kids(owner)).toHaveLength(1)
  })

  it('does not overwrite a concurrent change by a request', async () => {
    const owner = owners[0]!
    const { rowId, column } = secrets[0]!
    const place = { table: 'things', column, rowId }
    const here = context(oldRing)
    const sealed = await here.sealer.seal(owner, place, 'new')
    secrets[0]!.text = 'new'
    const racing: RotationContext = {
      ...here,
      sealer: {
        ...here.sealer,
        open: async (...given) => {
          const text = await here.sealer.open(...given)
          await sql`update things set ${sql.ref(column)} = ${sealed} where id = ${rowId}`.execute(database.db)
          racing.sealer.open = here.sealer.open
          return text
        },
      },
    }
    await rotateDataKey(racing, owner)
    await expectAllReadable(oldRing)
  })

  it('leaves one current key when two rotations run at once', async () => {
    const owner = owners[0]!
    await Promise.all([rotateDataKey(context(oldRing), owner), rotateDataKey(context(oldRing), owner)])
    await expectAllReadable(oldRing)
    clock.advance(2 * hourMs)
    await finishRotations(context(oldRing))
    expect(await kids(owner)).toHaveLength(1)
    await expectAllReadable(oldRing)
  })
})

describe('upkeep', () => {
  it('rewraps data keys with the ring’s new first key, and deletes retired data keys in time', async () => {
    const owner = owners[0]!
    await rotateDataKey(context(oldRing), owner)
    const newEntry = newRingEntry()
    const logger = createLogger('test')
    logger.level = 'silent'
    const upkeep = createKeyUpkeep({ ...context(parseKeyRing(`${newEntry},${oldEntry}`)), logger })
    upkeep.start()
    await upkeep.stop()
    await expectAllReadable(parseKeyRing(newEntry))
    expect(await kids(owner)).toHaveLength(2)
    clock.advance(2 * hourMs)
    upkeep.start()
    await upkeep.stop()
    await expectAllReadable(parseKeyRing(newEntry))
    expect(await kids(owner)).toHaveLength(1)
  })
})

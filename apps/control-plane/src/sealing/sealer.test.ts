import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ensureKeyRing, findKeyRing, newRingEntry, parseKeyRing } from './key-ring.ts'
import type { KeyOwner, SealedColumn } from './sealed-place.ts'
import { checkKeyRing, createSealer } from './sealer.ts'

const column: SealedColumn = {
  table: 'things',
  column: 'secret',
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}
const columns = [column, { ...column, ownerKind: 'person' as const }]

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

let clock: VirtualClock
let ring: ReturnType<typeof parseKeyRing>
let owner: KeyOwner
beforeEach(() => {
  clock = createVirtualClock()
  ring = parseKeyRing(newRingEntry())
  owner = { kind: 'organization', id: newUuid() }
})
const sealerHere = () => createSealer({ db: database.db, clock, ring, columns })
const place = (rowId = newUuid()) => ({ table: 'things', column: 'secret', rowId })
const countKeys = async (): Promise<number> => {
  const result = await sql<{
    n: number
  }>`select count(*)::int as n from data_keys where owner_id = ${owner.id}`.execute(database.db)
  return result.rows[0]!.n
}

describe('a sealed value', () => {
  it('opens to what was sealed, in this process and in another', async () => {
    const [one, other, at] = [sealerHere(), sealerHere(), place()]
    for (const text of ['', 'sk-secret', 'ä€🙂'.repeat(20_000)]) {
      const sealed = await one.seal(owner, at, text)
      expect(sealed).toMatch(/^v1\.[a-z2-7]{16}\.[A-Za-z0-9_-]+$/)
      if (text) expect(sealed).not.toContain(Buffer.from(text).toString('base64url').slice(0, 8))
      expect(await other.open(owner, at, sealed)).toBe(text)
    }
  })

  it('differs each time', async () => {
    const [sealer, at] = [sealerHere(), place()]
    expect(await sealer.seal(owner, at, 'same')).not.toBe(await sealer.seal(owner, at, 'same'))
  })

  it('opens only at its place and for its owner', async () => {
    const [sealer, at] = [sealerHere(), place()]
    const sealed = await sealer.seal(owner, at, 'secret')
    for (const moved of [place(), { ...at, column: 'other' }, { ...at, table: 'others' }])
      await expect(sealer.open(owner, moved, sealed)).rejects.toThrow('does not open')
    const stranger: KeyOwner = { kind: 'organization', id: newUuid() }
    await expect(sealer.open(stranger, at, sealed)).rejects.toThrow('is gone')
    await expect(sealer.open({ ...owner, kind: 'person' }, at, sealed)).rejects.toThrow('is gone')
    // The same key, assigned to another owner: the owner is authenticated too.
    await sql`update data_keys set owner_id = ${stranger.id} where owner_id = ${owner.id}`.execute(
      database.db,
    )
    await expect(sealerHere().open(stranger, at, sealed)).rejects.toThrow('does not open the data key')
  })

  it('does not open if a single character was changed', async () => {
    const [sealer, at] = [sealerHere(), place()]
    const sealed = await sealer.seal(owner, at, 'secret')
    const start = sealed.lastIndexOf('.') + 1
    for (let index = 0; index < sealed.length - 1; index++) {
      const other = sealed[index] === 'A' ? 'B' : 'A'
      const changed = `${sealed.slice(0, index)}${other}${sealed.slice(index + 1)}`
      await expect(sealer.open(owner, at, changed), String(index - start)).rejects.toThrow()
    }
    for (const text of ['', 'v1', 'v1.x.', sealed.slice(0, start + 10), `${sealed}=`])
      await expect(sealer.open(owner, at, text)).rejects.toThrow()
  })

  it('is refused for a column that was not declared as sealed', async () => {
    await expect(sealerHere().seal(owner, { ...place(), column: 'forgotten' }, 'x')).rejects.toThrow(
      'not declared',
    )
  })
})

describe('a data key', () => {
  it('is created once when several callers seal at the same time', async () => {
    const sealers = Array.from({ length: 8 }, sealerHere)
    const at = place()
    const sealed = await Promise.all(
      sealers.flatMap((sealer) => [sealer.seal(owner, at, 'a'), sealer.seal(owner, at, 'b')]),
    )
    expect(new Set(sealed.map((value) => value.split('.')[1])).size).toBe(1)
    expect(await countKeys()).toBe(1)
  })

  it('is read once in five minutes, and not created by opening', async () => {
    const [sealer, at] = [sealerHere(), place()]
    const sealed = await sealer.seal(owner, at, 'secret')
    await sql`delete from data_keys where owner_id = ${owner.id}`.execute(database.db)
    clock.advance(299_999)
    expect(await sealer.open(owner, at, sealed)).toBe('secret')
    clock.advance(1)
    await expect(sealer.open(owner, at, sealed)).rejects.toThrow('is gone')
    expect(await countKeys()).toBe(0)
  })

  it('opens nothing after it was destroyed', async () => {
    const [sealer, at] = [sealerHere(), place()]
    const sealed = await sealer.seal(owner, at, 'secret')
    await sealer.destroyKey(owner)
    await expect(sealer.open(owner, at, sealed)).rejects.toThrow('is gone')
    expect(await countKeys()).toBe(0)
  })
})

describe('the key ring', () => {
  it('is refused at start if it does not open the data keys in the database', async () => {
    await sql`delete from data_keys`.execute(database.db)
    await sealerHere().seal(owner, place(), 'secret')
    await checkKeyRing(database.db, ring)
    await expect(checkKeyRing(database.db, parseKeyRing(newRingEntry()))).rejects.toThrow('lacks the key')
    const sameName = parseKeyRing(`${ring.first}:${Buffer.alloc(32, 7).toString('base64')}`)
    await expect(checkKeyRing(database.db, sameName)).rejects.toThrow('wrapped with a different key')
  })

  it('is created once, in a file that only its owner can read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dock-ring-'))
    try {
      const place = { secretKeys: undefined, controlDir: folder }
      expect(await findKeyRing(place)).toBeUndefined()
      const made = await ensureKeyRing(place)
      expect((await ensureKeyRing(place)).first).toBe(made.first)
      expect((await findKeyRing(place))?.first).toBe(made.first)
      expect((await findKeyRing({ ...place, secretKeys: '' }))?.first).toBe(made.first)
      expect((await findKeyRing({ ...place, secretKeys: newRingEntry() }))?.first).not.toBe(made.first)
      const { mode } = await stat(join(folder, 'keys/secret-keys'))
      expect(mode & 0o777).toBe(0o600)
      await writeFile(join(folder, 'keys/secret-keys'), '')
      await expect(ensureKeyRing(place)).rejects.toThrow('is empty')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('accepts entries in every base64 form, and its errors contain no key', () => {
    const key = Buffer.alloc(32, 0xfb)
    const text = `b:${key.toString('base64')}, a:${key.toString('base64url')}\n`
    expect(parseKeyRing(text)).toMatchObject({ first: 'b' })
    for (const wrong of ['', ' , ', `${text}b:${key.toString('hex')}`, 'x:c2VjcmV0', `${text},${text}`]) {
      const parse = () => parseKeyRing(wrong)
      expect(parse).toThrow(/key ring/i)
      expect(parse).not.toThrow(/c2VjcmV0|fbfb|-_v7/)
    }
  })
})

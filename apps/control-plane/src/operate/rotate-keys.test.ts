import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newUuid, tryCommand } from '@dock/foundation'
import { createFreshDatabase } from '@dock/testkit'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { sealedColumns } from '../sealed-columns.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../sealing/index.ts'

const program = join(import.meta.dirname, 'main.ts')
const ofThisRun = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

it('seals every secret again, and refuses a wrong key ring before it changes any secret', async () => {
  const database = await createFreshDatabase()
  try {
    const { db, url } = database
    const entry = newRingEntry()
    const clock = createVirtualClock(new Date())
    const sealerNow = () => createSealer({ db, clock, ring: parseKeyRing(entry), columns: sealedColumns })
    const [organizationId, id] = [newUuid(), newUuid()]
    const owner = { kind: 'organization', id: organizationId } as const
    const place = { table: 'provider_keys', column: 'sealed_key', rowId: id }
    const before = await sealerNow().seal(owner, place, 'sk-secret')
    await sql`insert into organizations (id, name, slug) values (${organizationId}, 'O', 'o')`.execute(db)
    await sql`insert into provider_keys (id, organization_id, provider, sealed_key, updated_at)
      values (${id}, ${organizationId}, 'openai', ${before}, now())`.execute(db)
    const rotate = (DOCK_SECRET_KEYS: string) =>
      tryCommand(process.execPath, [program, 'rotate-keys'], {
        env: { ...ofThisRun, DATABASE_URL: url, DOCK_SECRET_KEYS },
      })

    const wrong = await rotate(newRingEntry())
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('lacks the key')])
    const right = await rotate(entry)
    expect([right.code, right.stdout]).toEqual([
      0,
      'Created new data keys for 1 owners and sealed 1 secrets with them.\n',
    ])
    const after = await sql<{ sealed: string }>`select sealed_key as sealed from provider_keys`.execute(db)
    expect(after.rows[0]!.sealed.split('.')[1]).not.toBe(before.split('.')[1])
    expect(await sealerNow().open(owner, place, after.rows[0]!.sealed)).toBe('sk-secret')
  } finally {
    await database.drop()
  }
})

it('as root, reads the key ring only from a plain file that belongs to the control folder’s user', async () => {
  const database = await createFreshDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'dock-ring-'))
  const nobody = 65_534
  try {
    const keys = join(folder, 'keys')
    const file = join(keys, 'secret-keys')
    const rotate = () =>
      tryCommand(process.execPath, [program, 'rotate-keys'], {
        env: { ...ofThisRun, DATABASE_URL: database.url, DOCK_CONTROL_DIR: folder },
      })
    expect((await rotate()).stderr).toContain('There is no key ring')

    await mkdir(keys)
    await writeFile(file, newRingEntry())
    for (const path of [folder, keys, file]) await chown(path, nobody, nobody)
    expect((await rotate()).stdout).toContain('new data keys for 0 owners')

    const ofRoot = join(folder, 'of-root')
    await writeFile(ofRoot, newRingEntry())
    await chmod(ofRoot, 0o600)
    await rm(file)
    await symlink(ofRoot, file)
    expect((await rotate()).stderr).toContain('is a symlink')
    await rm(keys, { recursive: true })
    await mkdir(join(folder, 'elsewhere'))
    await writeFile(join(folder, 'elsewhere/secret-keys'), newRingEntry())
    await symlink('elsewhere', keys)
    expect((await rotate()).stderr).toContain(`is not a file of user ${nobody}`)
  } finally {
    await rm(folder, { recursive: true })
    await database.drop()
  }
})

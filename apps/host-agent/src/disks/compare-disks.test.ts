/** Two real disks, compared as a whole and in small parts. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, open, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiskChange } from '@dock/host-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareDisks, comparisonLimits, readPlace, type WorkLimits } from './compare-disks.ts'
import { listDiskFolder } from './disk-folder.ts'
import { NotInPool } from './pool.ts'

let folder: string
let before: string
let after: string
const big = randomBytes(3 * 2 ** 20)

const makeDisk = async (tree: string, name: string): Promise<string> => {
  const disk = join(folder, name)
  await writeFile(disk, '')
  await truncate(disk, 96 * 2 ** 20)
  execFileSync('mkfs.ext4', ['-q', '-F', '-N', '20000', '-d', tree, disk])
  return disk
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-compare-'))
  await chmod(folder, 0o755)
  const one = join(folder, 'one')
  await mkdir(join(one, 'a', 'deep'), { recursive: true })
  await mkdir(join(one, 'gone', 'inner'), { recursive: true })
  await mkdir(join(one, 'many'))
  for (let index = 0; index < 3_000; index++) await writeFile(join(one, 'many', `f${index}`), `${index % 10}`)
  await writeFile(join(one, 'a', 'same'), big)
  await writeFile(join(one, 'a', 'late'), big)
  await writeFile(join(one, 'a', 'longer'), 'short')
  await writeFile(join(one, 'a', 'deep', 'mode'), 'x')
  await writeFile(join(one, 'a', 'owner'), 'x')
  await writeFile(join(one, 'gone', 'inner', 'file'), 'x')
  await writeFile(join(one, 'becomes-folder'), 'x')
  await symlink('short', join(one, 'a', 'link'))
  await symlink('x'.repeat(100), join(one, 'a', 'long-link'))
  await symlink('\nInode: 1\nparams', join(one, 'a', 'forging-link'))
  await writeFile(join(one, 'a', Buffer.from([0xff, 0x2f - 1]).toString('latin1')), 'x')
  const two = join(folder, 'two')
  await cp(one, two, { recursive: true, verbatimSymlinks: true })
  const file = await open(join(two, 'a', 'late'), 'r+')
  // The last byte only, and of the same size.
  await file.write(Buffer.from([big.at(-1)! ^ 1]), 0, 1, big.length - 1)
  await file.close()
  await writeFile(join(two, 'a', 'longer'), 'longer than before')
  await chmod(join(two, 'a', 'deep', 'mode'), 0o4755)
  execFileSync('chown', ['1000:1000', join(two, 'a', 'owner')])
  await rm(join(two, 'gone'), { recursive: true })
  await rm(join(two, 'becomes-folder'))
  await mkdir(join(two, 'becomes-folder'))
  await writeFile(join(two, 'becomes-folder', 'in-it'), 'x')
  await rm(join(two, 'a', 'link'))
  await symlink('other', join(two, 'a', 'link'))
  await rm(join(two, 'a', 'long-link'))
  await symlink('y'.repeat(100), join(two, 'a', 'long-link'))
  // Every other block is a hole.
  for (const [tree, last] of [
    [one, 'x'],
    [two, 'y'],
  ] as const) {
    const pieces = await open(join(tree, 'a', 'pieces'), 'w')
    for (let at = 0; at < 300; at++) await pieces.write(at < 299 ? 'same' : last.repeat(4), at * 8_192)
    await pieces.close()
  }
  await writeFile(join(two, 'many', 'f1777'), 'z')
  await writeFile(join(two, 'many', 'new'), 'z')
  for (const tree of [one, two]) {
    await writeFile(join(tree, 'a', 'sparse'), '')
    await truncate(join(tree, 'a', 'sparse'), 2 ** 40)
  }
  before = await makeDisk(one, 'before.raw')
  after = await makeDisk(two, 'after.raw')
})
afterAll(() => rm(folder, { recursive: true }))

/** A busy machine ends a part by its time, where these tests count parts that end by their work. */
const unhurried: WorkLimits = { ...comparisonLimits, milliseconds: Number.POSITIVE_INFINITY }

const compareAll = async (files: [string, string], limits = unhurried) => {
  const changes: DiskChange[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page = await compareDisks(files, cursor === null ? null : readPlace(cursor), limits)
    changes.push(...page.changes)
    cursor = page.nextCursor
    if (++pages > 20_000) throw new Error('the comparison does not end')
  } while (cursor !== null)
  return { changes, pages }
}

const shown = (changes: DiskChange[]) =>
  changes.map(({ path, differences }) => `${path} ${differences.join()}`)

const expected = [
  '/a/deep/mode mode',
  '/a/late contents',
  '/a/link contents',
  '/a/long-link contents',
  '/a/longer contents',
  '/a/owner owner',
  '/a/pieces contents',
  '/becomes-folder type',
  '/becomes-folder/in-it added',
  '/gone removed',
  '/gone/inner removed',
  '/gone/inner/file removed',
  '/many/f1777 contents',
  '/many/new added',
]

describe('the comparison', () => {
  it('finds what was added, removed and changed, and nothing else', async () => {
    expect(shown((await compareAll([before, after])).changes)).toEqual(expected)
  })

  it('finds nothing in the same disk', async () => {
    const { changes } = await compareAll([before, before])
    expect(changes).toEqual([])
  })

  it('in parts of one change finds the same', async () => {
    const { changes, pages } = await compareAll([before, after], { ...unhurried, changesMax: 1 })
    expect(shown(changes)).toEqual(expected)
    expect(pages).toBe(expected.length + 1)
  })

  it('goes on within a file when its bytes are many', async () => {
    const limits = { ...unhurried, bytesMax: 2 ** 20 }
    const { changes, pages } = await compareAll([before, after], limits)
    expect(shown(changes)).toEqual(expected)
    expect(pages).toBeGreaterThan(8)
  })

  it('leaves out a file in too many pieces, and says so', async () => {
    const all = await compareDisks([before, after], null, unhurried)
    expect([all.hasUnlisted, shown(all.changes)]).toEqual([false, expected])
    const limited = await compareDisks([before, after], null, { ...unhurried, blockListMax: 1_000 })
    const rest = expected.filter((each) => each !== '/a/pieces contents')
    expect([limited.hasUnlisted, shown(limited.changes)]).toEqual([true, rest])
  })

  it('takes no cursor that it did not write', () => {
    for (const text of ['', 'x', 'e30', Buffer.from('{"names":[]}').toString('base64url')])
      expect(readPlace(text)).toBeNull()
  })
})

describe('a folder', () => {
  const list = (path: string, cursor: string | null = null, limit = 1_000) =>
    listDiskFolder(before, { path, cursor, limit })

  it('is listed with types, modes and sizes', async () => {
    const { entries } = await list('/a')
    expect(entries.find(({ name }) => name === 'same')).toEqual({
      ...{ name: 'same', type: 'file', mode: '0644', size: big.length },
    })
    expect(entries.find(({ name }) => name === 'deep')?.type).toBe('folder')
    expect(entries.find(({ name }) => name === 'link')?.type).toBe('link')
  })

  it('is paged by the bytes of its names', async () => {
    const names: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof list>> = await list('/many', cursor, 700)
      names.push(...page.entries.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== null)
    expect(names).toHaveLength(3_000)
    expect(names).toEqual(names.toSorted())
  })

  it('is not found if it is a file, absent, or no plain path', async () => {
    for (const path of ['/a/same', '/nowhere', '/a/..', 'a', '/a\n/b', '//'])
      await expect(list(path), path).rejects.toThrow(NotInPool)
  })
})

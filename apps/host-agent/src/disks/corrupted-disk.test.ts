/** Disks whose filesystem a guest has damaged at random. The host's programs read them confined: each ends, and harms nobody. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readDiskFile } from './capture-reader.ts'
import { checkForeignDisk } from './check-foreign-disk.ts'
import { compareDisks, comparisonLimits } from './compare-disks.ts'
import { resizeDisk } from './resize-disk.ts'
import { walkTree } from './walk-tree.ts'

const diskBytes = 32 * 2 ** 20
/** Superblock, group descriptors, bitmaps and inodes lie at the beginning. */
const metadataBytes = 2 * 2 ** 20
const damages = 64
const filesMax = 100_000

let folder: string
let whole: string
let wholeHash: string
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const text = 'text\n'.repeat(10_000)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-corrupted-'))
  const tree = join(folder, 'tree')
  for (let index = 0; index < 40; index += 1) {
    await mkdir(join(tree, `d${index}`, 'deep'), { recursive: true })
    await writeFile(join(tree, `d${index}`, 'deep', 'file'), text)
  }
  whole = join(folder, 'whole.raw')
  await writeFile(whole, '')
  await truncate(whole, diskBytes)
  execFileSync('mkfs.ext4', ['-q', '-F', '-b', '4096', '-J', 'size=4', '-d', tree, whole])
  wholeHash = hashOf(await readFile(whole))
})
afterAll(() => rm(folder, { recursive: true }))

/** What the host does with a disk: it lists, reads, compares, checks a copy before it is restored, and resizes. */
const works: Record<string, (disk: string) => Promise<unknown>> = {
  list: async (disk) => {
    let files = 0
    for await (const page of walkTree(disk)) files += page.length
    expect(files).toBeLessThan(filesMax)
  },
  read: async (disk) => buffer((await readDiskFile(disk, '/d7/deep/file')).stream),
  compare: async (disk) => await compareDisks([whole, disk], null, comparisonLimits),
  restore: async (disk) => await checkForeignDisk(disk, { afterPowerCut: true }),
  grow: async (disk) => await resizeDisk(disk, 2 * diskBytes),
}
const outcomesOf = async (disk: string): Promise<string[]> => {
  const outcomes: string[] = []
  for (const [name, work] of Object.entries(works))
    outcomes.push(
      await work(disk).then(
        () => `${name}: done`,
        (error: unknown) => `${name}: ${error instanceof Error ? 'error' : 'no error'}`,
      ),
    )
  return outcomes
}

it('a disk without damage is read, compared, checked and resized', async () => {
  const disk = join(folder, 'control.raw')
  await copyFile(whole, disk)
  expect(await outcomesOf(disk)).toEqual(Object.keys(works).map((name) => `${name}: done`))
})

it.each([1, 2, 3, 4, 5, 6])(
  'a disk damaged at random %i ends each of them, and stays no danger',
  async (seed) => {
    const disk = join(folder, `${seed}.raw`)
    await copyFile(whole, disk)
    let state = seed * 2_654_435_761
    const draw = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state % below
    }
    const file = await open(disk, 'r+')
    for (let damage = 0; damage < damages; damage += 1) {
      const bytes = Buffer.from(Array.from({ length: 1 + draw(16) }, () => draw(256)))
      // The superblock's own magic stays, or everything only says that there is no filesystem.
      await file.write(bytes, 0, bytes.length, 2_048 + draw(metadataBytes))
    }
    await file.close()
    const outcomes = await outcomesOf(disk)
    expect(outcomes.map((each) => each.split(': ')[0])).toEqual(Object.keys(works))
    expect(outcomes.filter((each) => each.endsWith('no error'))).toEqual([])
    // What is accepted is clean: a host's kernel may read it.
    const clean = checkForeignDisk(disk, { afterPowerCut: false }).then(() => true)
    if (outcomes.includes('restore: done')) expect(await clean).toBe(true)
    else await expect(clean).rejects.toThrow()
    // The disk that it was compared with is as it was.
    expect(hashOf(await readFile(whole))).toBe(wholeHash)
  },
)

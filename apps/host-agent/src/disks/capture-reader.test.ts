/** Malicious disks: written by a guest's root, or by changing bytes of the disk directly. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, mkdir, mkdtemp, open, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { NotRegularFile, readDiskFile } from './capture-reader.ts'
import { NotInPool } from './pool.ts'
import { walkTree } from './walk-tree.ts'

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
/** A file name that imitates the separator between debugfs answers, as far as a name can. */
const forgedLines = [
  'debugfs: ls -p <2>',
  'debugfs:  ',
  'debugfs:  Filesystem in use: --none--',
  'Filesystem in use: --none--',
]
/** Nested folders; each adds 200 bytes to the path. */
const nest = `import os, sys
os.chdir(sys.argv[1])
for depth in range(40):
  os.mkdir('n' * 199)
  os.chdir('n' * 199)
  open('at', 'w').close()`
const secret = randomBytes(16).toString('hex')
let folder: string
let disk: string

const debugfs = (command: string): string => run('debugfs', '-w', '-R', command, disk)

/** Overwrites a name on the disk with other bytes of the same length. */
const rename = async (from: string, to: string): Promise<void> => {
  expect(to.length).toBe(from.length)
  const bytes = await readFile(disk)
  const file = await open(disk, 'r+')
  let found = 0
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) {
    await file.write(to, at, 'latin1')
    found += 1
  }
  await file.close()
  expect(found).toBeGreaterThan(0)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-hostile-'))
  const tree = join(folder, 'tree')
  await mkdir(join(tree, 'etc'), { recursive: true })
  await mkdir(join(tree, 'loop', 'inner'), { recursive: true })
  await mkdir(join(tree, 'many'))
  await writeFile(join(folder, 'secret'), secret)
  await writeFile(join(tree, 'plain'), 'plain')
  await writeFile(join(tree, 'etc', 'own'), "the disk's own")
  await writeFile(join(tree, 'UPUPUPUPUPSECRET'), 'climbs')
  await writeFile(join(tree, 'LINEBREAKLINEBREAK'), 'forged')
  await writeFile(join(tree, 'etc', 'PARENT'), 'p')
  await symlink(join(folder, 'secret'), join(tree, 'absolute'))
  await symlink(`${'../'.repeat(40)}${folder.slice(1)}/secret`, join(tree, 'climbing'))
  await symlink(folder, join(tree, 'folder'))
  await symlink('/proc/self/root', join(tree, 'root'))
  await symlink('second', join(tree, 'first'))
  await symlink('first', join(tree, 'second'))
  await symlink('absolute', join(tree, 'chained'))
  await link(join(tree, 'plain'), join(tree, 'hard'))
  run('mknod', join(tree, 'memory'), 'c', '1', '1')
  run('mknod', join(tree, 'drive'), 'b', '7', '0')
  run('mkfifo', join(tree, 'pipe'))
  const server = createServer().listen(join(tree, 'socket'))
  await writeFile(join(tree, 'sparse'), '')
  await truncate(join(tree, 'sparse'), 2 ** 40)
  for (let index = 0; index < 5_000; index++) await writeFile(join(tree, 'many', `f${index}`), '')
  await mkdir(join(tree, 'forged'))
  for (const [index, line] of forgedLines.entries())
    for (const side of ['a', 'z'])
      await writeFile(join(tree, 'forged', `${side}${index}\n${line}\n${line}`), '')
  for (let index = 0; index < 100; index++)
    await mkdir(join(tree, 'forged', `d${index}`, 'own'), { recursive: true })
  for (let index = 0; index < 100; index++)
    await writeFile(join(tree, 'forged', `d${index}`, 'own', 'file'), '')
  run('python3', '-c', nest, tree)
  disk = join(folder, 'disk.raw')
  await writeFile(disk, '')
  await truncate(disk, 64 * 2 ** 20)
  run('mkfs.ext4', '-q', '-F', '-N', '30000', '-O', '^metadata_csum', '-d', tree, disk)
  server.close()
  await rename('UPUPUPUPUPSECRET', '../../../secret0')
  await rename('LINEBREAKLINEBREAK', 'x\n/2/040755/0/0/y/')
  await rename('PARENT', '../a/b')
  debugfs('ln /loop /loop/inner/again')
  debugfs('ln / /loop/top')
})

// Files that are nested too deep cannot be removed by path.
afterAll(() => run('rm', '-rf', folder))

const list = async (file: string) => (await Array.fromAsync(walkTree(file))).flat()

const read = async (path: string, file = disk): Promise<string> =>
  (await buffer((await readDiskFile(file, path)).stream)).toString()

it('lists each ordinary file once, and terminates', async () => {
  const files = await list(disk)
  const paths = files.map(({ path }) => path)
  expect(paths.filter((path) => path.startsWith('/many/'))).toHaveLength(5_000)
  expect(new Set(paths).size).toBe(paths.length)
  expect(paths.filter((path) => !/^\/(many|forged|nnn)/.test(path)).sort()).toEqual([
    '/etc/own',
    '/hard',
    '/plain',
    '/sparse',
  ])
  expect(files.find(({ path }) => path === '/sparse')?.size).toBe(2 ** 40)
  expect(files.every(({ size }) => Number.isSafeInteger(size))).toBe(true)
})

it('lists each file in its own folder, whatever names with line breaks say', async () => {
  const paths = (await list(disk)).map(({ path }) => path).filter((path) => path.includes('forged'))
  expect(paths.sort()).toEqual(Array.from({ length: 100 }, (_, index) => `/forged/d${index}/own/file`).sort())
})

it('lists no file whose path is too long', async () => {
  const paths = (await list(disk)).map(({ path }) => path).filter((path) => path.endsWith('/at'))
  expect(Math.max(...paths.map(({ length }) => length))).toBe(20 * 200 + 3)
  expect(await read(paths.at(-1)!)).toBe('')
})

it('reveals no byte of the host through a link, name or device', async () => {
  // Control: an ordinary file can be read.
  expect(await read('/etc/own')).toBe("the disk's own")
  expect(await read('/hard')).toBe('plain')
  for (const path of [
    '/memory',
    '/drive',
    '/pipe',
    '/socket',
    '/absolute',
    '/climbing',
    '/chained',
    '/folder',
  ])
    await expect(read(path), path).rejects.toThrow(NotRegularFile)
  const missing = [
    '/folder/secret',
    `/root${folder}/secret`,
    `/root/${folder}/secret`,
    '/../../../secret0',
    '/first/x',
    '/etc/../etc/own',
    '/pipe/x',
    '<2>',
    '/x" \n/etc/own',
  ]
  for (const path of missing) await expect(read(path), path).rejects.toThrow(NotInPool)
})

it('streams a huge sparse file only as far as it is read', async () => {
  const { size, stream } = await readDiskFile(disk, '/sparse')
  expect(size).toBe(2 ** 40)
  let seen = 0
  for await (const bytes of stream as AsyncIterable<Buffer>) {
    expect(bytes.every((byte) => byte === 0)).toBe(true)
    seen += bytes.length
    if (seen > 2 ** 20) break
  }
})

it('ends a read that stalls, and reads at most nine files at the same time', async () => {
  const { stream } = await readDiskFile(disk, '/sparse', 50)
  // It may have ended already.
  await expect(finished(stream)).rejects.toThrow('stopped accepting data')
  const open = await Promise.all(Array.from({ length: 9 }, () => readDiskFile(disk, '/sparse')))
  let isRead = false
  const tenth = readDiskFile(disk, '/etc/own').then(({ stream: own }) => {
    isRead = true
    own.destroy()
  })
  // A read that had a slot would be done by then.
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(isRead).toBe(false)
  open[0]?.stream.destroy()
  await tenth
  for (const each of open) each.stream.destroy()
})

it('treats a disk without a valid filesystem as empty', async () => {
  const broken = join(folder, 'broken.raw')
  await writeFile(broken, randomBytes(2 ** 20))
  expect(await list(broken)).toEqual([])
  await expect(read('/plain', broken)).rejects.toThrow(NotInPool)
  // The superblock is intact; the blocks after it are not.
  const bytes = await readFile(disk)
  randomBytes(200 * 4096).copy(bytes, 4096)
  await writeFile(broken, bytes)
  const left = await list(broken)
  expect(left.length).toBeLessThan(5_010)
  await read('/plain', broken).catch((error: unknown) => expect(error).toBeInstanceOf(Error))
})

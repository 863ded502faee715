/** Uses one folder as the disk, and another as the host's own files. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeEntries } from './write-entries.ts'

let scratch: string
let disk: string
let host: string
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'dock-lay-'))
  disk = join(scratch, 'disk')
  host = join(scratch, 'host')
  for (const folder of [disk, host]) await mkdir(folder)
  await writeFile(join(host, 'file'), 'of the host')
})
afterEach(() => rm(scratch, { recursive: true }))

const owner = { uid: process.getuid!(), gid: process.getgid!() }
const folder = { path: '/home', mode: 0o700, ...owner }
const file = { path: '/home/file', mode: 0o600, ...owner, contents: Buffer.from('given') }

it('creates missing folders and files, and keeps an existing folder unchanged', async () => {
  await writeEntries(disk, [folder, file])
  await writeEntries(disk, [
    { ...folder, mode: 0o777 },
    { ...file, contents: Buffer.from('again') },
  ])
  expect(execFileSync('stat', ['-c', '%a', join(disk, 'home'), join(disk, 'home/file')]).toString()).toBe(
    '700\n600\n',
  )
  expect(await readFile(join(disk, 'home/file'), 'utf8')).toBe('again')
})

it.each(['absolute', 'relative'])(
  'follows no %s link, neither as the folder nor in its path',
  async (kind) => {
    await symlink(kind === 'absolute' ? host : '../host', join(disk, 'home'))
    const deeper = { ...folder, path: '/home/deeper' }
    for (const entries of [[folder, file], [file], [deeper]])
      await expect(writeEntries(disk, entries)).rejects.toMatchObject({ code: 'ENOTDIR' })
    expect(await readdir(host)).toEqual(['file'])
    expect(await readFile(join(host, 'file'), 'utf8')).toBe('of the host')
  },
)

it('replaces a link or a pipe with the file instead of following it', async () => {
  await mkdir(join(disk, 'home'))
  await symlink(join(host, 'file'), join(disk, 'home/file'))
  execFileSync('mkfifo', [join(disk, 'home/pipe')])
  await writeEntries(disk, [file, { ...file, path: '/home/pipe' }])
  for (const name of ['file', 'pipe']) expect(await readFile(join(disk, 'home', name), 'utf8')).toBe('given')
  expect(await readFile(join(host, 'file'), 'utf8')).toBe('of the host')
})

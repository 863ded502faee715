/** Pages of large folders. The Dock's programs are real and run on this machine. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { encodeNameForUrl, type FileList } from '@dock/contract'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { argvOf } from './programs.ts'

const count = 12_000
const name = (index: number): string => `f${String(index).padStart(6, '0')}`
const cursorOf = (text: string): string => Buffer.from(text).toString('hex')

let server: ControlPlaneWithHost
let dockId: string
let folder: string

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  dockId = await server.addDock()
})
afterAll(() => server.stop())
beforeEach(() => {
  // Not in /tmp, which one test hides.
  folder = mkdtempSync('/var/tmp/dock-large-')
  execFileSync('perl', ['-e', `open my $file, '>', sprintf 'f%06d', $_ for 1 .. ${count}`], { cwd: folder })
})
afterEach(() => {
  const inodes = [folder, join(folder, 'below')].map((path) => (existsSync(path) ? statSync(path).ino : 0))
  rmSync(folder, { recursive: true, force: true })
  for (const inode of inodes) rmSync(keptFile(inode), { recursive: true, force: true })
})

/** The file in which the program keeps the names of a folder. */
const keptFile = (inode = statSync(folder).ino): string => `/tmp/.dock-list-${process.getuid?.()}-${inode}`

const list = async (limit: number, cursor = ''): Promise<FileList> => {
  const query = `path=${encodeNameForUrl(folder)}&limit=${limit}${cursor && `&cursor=${cursor}`}`
  const answer = await server.controlPlane.app.request(`/v1/docks/${dockId}/files/list?${query}`, {
    headers: { authorization: `Bearer ${server.admin.apiKey}` },
  })
  return ((await answer.json()) as { data: FileList }).data
}
const namesOf = ({ entries }: FileList): string[] => entries.map((entry) => entry.name)

it('lists every entry once, in order', async () => {
  mkdirSync(join(folder, 'below'))
  symlinkSync('f000001', join(folder, '-link\n'))
  const longest = ['x'.repeat(255), 'y'.repeat(255), 'z'.repeat(255)]
  for (const each of longest) writeFileSync(join(folder, each), '')
  const found: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: FileList = await list(1000, cursor)
    expect(page.entry).toMatchObject({ type: 'folder' })
    found.push(...namesOf(page))
    cursor = page.nextCursor
  }
  const files = Array.from({ length: count }, (_, index) => name(index + 1))
  expect(found).toEqual(['-link\n', 'below', ...files, ...longest])
  expect(existsSync(keptFile())).toBe(false)
})

it('finds its place after every name, also after a name that is not in the folder', async () => {
  await list(1)
  for (const [after, next] of [
    ['a', name(1)],
    ['f', name(1)],
    [name(1), name(2)],
    [name(4711), name(4712)],
    [`${name(4711)}x`, name(4712)],
    [name(count - 1), name(count)],
  ] as const)
    expect(namesOf(await list(1, cursorOf(after)))).toEqual([next])
  expect(await list(1, cursorOf(name(count)))).toMatchObject({ entries: [], nextCursor: null })
  expect(await list(1, cursorOf('z'))).toMatchObject({ entries: [], nextCursor: null })
})

it('reads the folder for the first page, and again when a minute is over', async () => {
  const first = await list(2)
  expect(first.nextCursor).toBe(cursorOf(name(2)))
  writeFileSync(join(folder, 'f000002new'), '')
  rmSync(join(folder, name(3)))
  // Without a look at the folder, its new name is unknown. What is gone is not told.
  expect(namesOf(await list(2, first.nextCursor ?? ''))).toEqual([name(4), name(5)])
  expect(namesOf(await list(3))).toEqual([name(1), name(2), 'f000002new'])
  writeFileSync(join(folder, 'f000002newer'), '')
  const aged = Date.now() / 1000 - 61
  utimesSync(keptFile(), aged, aged)
  expect(namesOf(await list(2, first.nextCursor ?? ''))).toEqual(['f000002new', 'f000002newer'])
})

it('looks at a limited number of names that are gone', async () => {
  await list(10)
  for (let index = 11; index < 200; index++) rmSync(join(folder, name(index)))
  const page = await list(10, cursorOf(name(10)))
  expect(page).toMatchObject({ entries: [], nextCursor: cursorOf(name(90)) })
  const later = await list(10, cursorOf(name(170)))
  expect(namesOf(later)[0]).toBe(name(200))
})

it('does not believe names of another folder, nor a link in the place of the file', async () => {
  await list(1)
  const kept = keptFile()
  execFileSync('sed', ['-i', '1s/^[0-9]* /0 /', kept])
  writeFileSync(join(folder, 'f000001new'), '')
  expect(namesOf(await list(1, cursorOf(name(1))))).toEqual(['f000001new'])
  execFileSync('bash', ['-c', 'mv "$1" "$1-moved" && ln -s "$1-moved" "$1"', 'bash', kept])
  writeFileSync(join(folder, 'f000001newer'), '')
  expect(namesOf(await list(2, cursorOf(name(1))))).toEqual(['f000001new', 'f000001newer'])
  rmSync(`${kept}-moved`)
})

it('removes old files of other folders', async () => {
  const old = keptFile(1)
  writeFileSync(old, '')
  utimesSync(old, 1, 1)
  await list(1)
  expect([existsSync(old), existsSync(keptFile())]).toEqual([false, true])
})

it('lists without the file if the disk is full', () => {
  const program = argvOf('list', [folder, 3, name(4711)])
  const script = 'mount -t tmpfs -o size=16k none /tmp && "$@" && ls -A /tmp'
  const told = execFileSync('unshare', ['-m', 'bash', '-c', script, 'bash', ...program], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [, ...lines] = told.trimEnd().split('\n')
  const names = lines.slice(0, 3).map((line) => Buffer.from(line.split(' ')[5] ?? '', 'hex').toString())
  expect(names).toEqual([name(4712), name(4713), name(4714)])
  expect(lines.slice(3)).toEqual([`end 1 ${cursorOf(name(4714))}`])
})

/** Checks the archive against the format's description, with a reader that is independent of the writer. */
import { expect, test } from 'vitest'
import { bootModules } from './boot-modules.ts'
import { makeInitrd } from './initrd.ts'
import { writeNewc } from './newc.ts'

type Found = { path: string; mode: number; links: number; inode: number; contents: string }

/** Reads a newc archive up to its end mark. */
const read = (archive: Buffer): Found[] => {
  const found: Found[] = []
  for (let at = 0; ; ) {
    expect(archive.toString('latin1', at, at + 6)).toBe('070701')
    const field = (index: number) =>
      Number.parseInt(archive.toString('latin1', at + 6 + index * 8, at + 14 + index * 8), 16)
    const name = archive.toString('latin1', at + 110, at + 110 + field(11) - 1)
    expect(archive[at + 110 + field(11) - 1]).toBe(0)
    const [inode, mode, links] = [field(0), field(1), field(4)]
    const start = Math.ceil((at + 110 + field(11)) / 4) * 4
    const contents = archive.toString('latin1', start, start + field(6))
    at = Math.ceil((start + field(6)) / 4) * 4
    if (name === 'TRAILER!!!') {
      expect(at).toBe(archive.length)
      return found
    }
    found.push({ path: name, mode, links, inode, contents })
  }
}

test('files and folders of every alignment are read back with their modes', () => {
  const lengths = [0, 1, 2, 3, 4, 5]
  const files = lengths.map((length) => ({
    path: `folder/${'n'.repeat(length + 1)}`,
    mode: 0o640 + length,
    contents: Buffer.alloc(length, 'x'),
  }))
  const found = read(writeNewc([{ path: 'folder', mode: 0o755 }, ...files]))
  expect(found.map(({ path, mode, contents }) => ({ path, mode, contents }))).toEqual([
    { path: 'folder', mode: 0o040755, contents: '' },
    ...files.map(({ path, mode, contents }) => ({ path, mode: 0o100000 | mode, contents: String(contents) })),
  ])
  // The kernel takes files with the same inode and more than one link for one file.
  expect(new Set(found.map(({ inode }) => inode)).size).toBe(found.length)
})

test('the same entries give the same bytes', () => {
  const entries = [{ path: 'init', mode: 0o755, contents: Buffer.from('agent') }]
  expect(writeNewc(entries)).toEqual(writeNewc(entries))
})

test.each(['', '/init', 'a//b', '../init', 'a/..', 'a\0b'])('the path %j is refused', (path) => {
  expect(() => writeNewc([{ path, mode: 0o755 }])).toThrow('not a path for an archive')
})

test('the initrd has the agent as its program, and the modules in the order in which they are needed', () => {
  const given = new Map([...bootModules].reverse().map((name) => [name, Buffer.from(name)] as const))
  const found = read(makeInitrd(Buffer.from('agent'), given))
  expect(found.find(({ path }) => path === 'init')).toMatchObject({ mode: 0o100755, contents: 'agent' })
  const modules = found.filter(({ path }) => path.endsWith('.ko'))
  expect(modules.map(({ path }) => path).sort()).toEqual(modules.map(({ path }) => path))
  expect(modules.map(({ contents }) => contents)).toEqual([...bootModules])
})

test('a module that is built into the kernel is left out', () => {
  const found = read(makeInitrd(Buffer.from('agent'), new Map([['virtio_blk', Buffer.from('x')]])))
  expect(found.filter(({ path }) => path.startsWith('modules/'))).toMatchObject([{ contents: 'x' }])
})

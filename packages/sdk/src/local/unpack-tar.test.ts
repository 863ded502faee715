import { execFileSync } from 'node:child_process'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packTar } from './pack-tar.ts'
import { unpackTar } from './unpack-tar.ts'

let root: string
let source: string
let target: string
let outside: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dock-sdk-'))
  for (const name of ['source', 'target', 'outside']) mkdirSync(join(root, name))
  source = join(root, 'source')
  target = join(root, 'target')
  outside = join(root, 'outside')
  writeFileSync(join(outside, 'secret'), 'before')
})
afterEach(() => rmSync(root, { recursive: true }))

async function* chunksOf(bytes: Uint8Array, size = 700) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const tarOf = (...options: string[]) => execFileSync('tar', ['-c', '-C', source, ...options, '.'])
/** A tar with entries in this order, also such as no file system has. */
const entry = (name: string, type: string, { target: to = '', content = '' } = {}): Buffer => {
  const block = Buffer.alloc(512)
  block.write(name)
  block.write('0000644\0', 100)
  block.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124)
  block.write('00000000000\0', 136)
  block.fill(' ', 148, 156)
  block.write(type, 156)
  block.write(to, 157)
  block.write('ustar\x0000', 257)
  block.write(
    `${block
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return Buffer.concat([block, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)])
}
const unpack = (...entries: Buffer[]) =>
  unpackTar(chunksOf(Buffer.concat([...entries, Buffer.alloc(1024)])), target)
const isUntouched = () => {
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('before')
  expect(execFileSync('ls', ['-A', outside], { encoding: 'utf8' })).toBe('secret\n')
}

const longName = `${'n'.repeat(120)}/${'m'.repeat(200)}`

it.each(['gnu', 'posix', 'ustar'])('unpacks what GNU tar packs as %s', async (format) => {
  mkdirSync(join(source, 'sub/deep'), { recursive: true })
  writeFileSync(join(source, 'sub/deep/ü b'), 'x'.repeat(5000), { mode: 0o640 })
  writeFileSync(join(source, 'empty'), '')
  execFileSync('ln', [join(source, 'empty'), join(source, 'hard')])
  symlinkSync('sub/deep', join(source, 'link'))
  symlinkSync('../../empty', join(source, 'sub/deep/up'))
  if (format !== 'ustar') {
    mkdirSync(join(source, 'n'.repeat(120)))
    writeFileSync(join(source, longName), 'long')
  }
  writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x66, 0xff])]), 'bytes')
  expect(await unpackTar(chunksOf(tarOf(`--format=${format}`)), target)).toEqual([])
  execFileSync('diff', ['-r', '--no-dereference', source, target])
  expect(lstatSync(join(target, 'sub/deep/ü b')).mode & 0o777).toBe(0o640)
  expect(readlinkSync(join(target, 'link'))).toBe('sub/deep')
})

it('makes no folder if there is no tar', async () => {
  await expect(unpackTar(chunksOf(Buffer.alloc(0)), join(target, 'new'))).rejects.toThrow('too early')
  expect(() => lstatSync(join(target, 'new'))).toThrow('ENOENT')
})

it('packs what GNU tar unpacks', async () => {
  mkdirSync(join(source, 'n'.repeat(120)))
  writeFileSync(join(source, longName), 'x'.repeat(300_000), { mode: 0o751 })
  symlinkSync(`/${longName}`, join(source, 'link'))
  symlinkSync(outside, join(source, 'away'))
  writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.from([0x66, 0xff])]), 'bytes')
  const parts: Uint8Array[] = []
  for await (const part of packTar(source)) parts.push(part)
  execFileSync('tar', ['-x', '-C', target], { input: Buffer.concat(parts) })
  execFileSync('diff', ['-r', '--no-dereference', source, target])
  expect(lstatSync(join(target, longName)).mode & 0o777).toBe(0o751)
})

it('refuses names that lead out of the folder', async () => {
  for (const name of ['../outside/secret', 'a/../../outside/secret'])
    await expect(unpack(entry(name, '0', { content: 'evil' }))).rejects.toMatchObject({ code: 'local_file' })
  await unpack(entry('/outside/secret', '0', { content: 'inside' }))
  expect(readFileSync(join(target, 'outside/secret'), 'utf8')).toBe('inside')
  isUntouched()
})

it('follows no link of the same tar', async () => {
  const skipped = await unpack(
    entry('out', '2', { target: '../outside' }),
    entry('abs', '2', { target: outside }),
  )
  expect(skipped).toEqual(['out', 'abs'])
  expect(() => lstatSync(join(target, 'out'))).toThrow()
  await expect(
    unpack(entry('sub/', '5'), entry('in', '2', { target: 'sub' }), entry('in/file', '0', { content: 'x' })),
  ).rejects.toThrow('is a link here')
  isUntouched()
})

it('leaves out links that lead out through other links', async () => {
  const skipped = await unpack(
    entry('s/', '5'),
    entry('p/q/r/', '5'),
    entry('p/q/r/d', '2', { target: '../../../s' }),
    entry('p/q/r/e', '2', { target: 'd/../../outside' }),
  )
  expect(skipped).toEqual(['p/q/r/e'])
})

it('follows no link that was there before', async () => {
  symlinkSync(outside, join(target, 'folder'))
  symlinkSync(join(outside, 'secret'), join(target, 'file'))
  await expect(unpack(entry('folder/secret', '0', { content: 'evil' }))).rejects.toThrow('is a link here')
  await expect(unpack(entry('folder/', '5'))).rejects.toThrow('is a link here')
  await unpack(entry('file', '0', { content: 'new' }))
  expect(readFileSync(join(target, 'file'), 'utf8')).toBe('new')
  expect(lstatSync(join(target, 'file')).isSymbolicLink()).toBe(false)
  isUntouched()
})

it('makes no hard link through a link, or to one', async () => {
  symlinkSync(outside, join(target, 'folder'))
  symlinkSync(join(outside, 'secret'), join(target, 'file'))
  for (const to of ['folder/secret', 'file', '../outside/secret'])
    await expect(unpack(entry('hard', '1', { target: to })), to).rejects.toMatchObject({ code: 'local_file' })
  isUntouched()
})

it('replaces no folder, and leaves no drafts behind', async () => {
  mkdirSync(join(target, 'folder'))
  await expect(unpack(entry('folder', '0', { content: 'x' }))).rejects.toThrow('is a folder here')
  const broken = Buffer.concat([entry('a', '0', { content: 'x'.repeat(600) })]).subarray(0, 700)
  await expect(unpackTar(chunksOf(broken), target)).rejects.toThrow('ends too early')
  expect(execFileSync('ls', ['-A', target], { encoding: 'utf8' })).toBe('folder\n')
})

/** The records of pax before an entry. */
const pax = (records: Record<string, string>): Buffer => {
  const line = (text: string, length = text.length + 3): string =>
    `${length} ${text}\n`.length === length ? `${length} ${text}\n` : line(text, length + 1)
  return entry('pax', 'x', {
    content: Object.entries(records)
      .map(([key, value]) => line(`${key}=${value}`))
      .join(''),
  })
}

it('refuses names and sizes that no file has', async () => {
  await expect(unpack(pax({ path: 'a\0b' }), entry('x', '0'))).rejects.toMatchObject({ code: 'local_file' })
  for (const size of ['-512', 'NaN', '1e3', ''])
    await expect(unpack(pax({ size }), entry('x', '0')), size).rejects.toMatchObject({ code: 'local_file' })
  expect(await unpack(pax({ linkpath: 'a\0b' }), entry('link', '2', { target: 'x' }))).toEqual(['link'])
  expect(await unpack(entry('empty', '2'))).toEqual(['empty'])
})

it('takes times from beyond all calendars', async () => {
  const late = entry('late', '0', { content: 'x' })
  late.fill(0, 136, 148)
  late[136] = 0x80
  late.fill(0x1f, 142, 148)
  late.fill(' ', 148, 156)
  const sum = late.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  late.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  await unpack(late)
  expect(readFileSync(join(target, 'late'), 'utf8')).toBe('x')
})

it('refuses what is no tar, and names without end', async () => {
  await expect(unpackTar(chunksOf(Buffer.alloc(2048, 'x')), target)).rejects.toThrow('not a tar')
  const endless = entry('x', 'L', { content: 'n'.repeat(100_000) })
  await expect(unpack(endless)).rejects.toThrow('too long')
})

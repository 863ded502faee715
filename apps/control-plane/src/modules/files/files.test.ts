/** Files of a Dock over HTTP. The Dock's programs are real and run on this machine, in a folder that each test gets. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeNameForUrl, type FileList, nameOfBytes } from '@dock/contract'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let dockId: string
let folder: string

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  dockId = await server.addDock()
})
afterAll(() => server.stop())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-files-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Body = string | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
type Sent = { query?: string; headers?: Record<string, string>; body?: Body }

const send = (method: string, path: string, { query = '', headers, body }: Sent = {}): Promise<Response> =>
  Promise.resolve(
    server.controlPlane.app.request(`/v1/docks/${dockId}/${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${server.admin.apiKey}`, ...headers },
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    }),
  )

const at = (path: string, more = ''): string => `?path=${encodeNameForUrl(path)}${more}`
const get = (path: string, headers: Record<string, string> = {}) =>
  send('GET', 'files', { query: at(path), headers })
const put = (path: string, body: Body, more = '', headers: Record<string, string> = {}) =>
  send('PUT', 'files', { query: at(path, more), body, headers })
const remove = (path: string, more = '') => send('DELETE', 'files', { query: at(path, more) })
const post = (verb: string, body: object) =>
  send('POST', `files/${verb}`, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const list = async (path: string, more = ''): Promise<FileList> => {
  const answer = await send('GET', 'files/list', { query: at(path, more) })
  return ((await answer.json()) as { data: FileList }).data
}

/** Returns status and code of a failure, and status and data of a success. */
const outcome = async (sent: Promise<Response>): Promise<[number, unknown]> => {
  const answer = await sent
  const { code, data } = (await answer.json()) as { code?: string; data?: unknown }
  return [answer.status, code ?? data]
}

const asTar = { accept: 'application/x-tar' }
const tarType = { 'content-type': 'application/x-tar' }

describe('reading a file', () => {
  it('returns its bytes, its size to HEAD, and validators', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 0])
    writeFileSync(join(folder, 'a'), bytes, { mode: 0o640 })
    const answer = await get(join(folder, 'a'))
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': '5',
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^W\/"\d+-5-\d+"$/),
      'last-modified': lstatSync(join(folder, 'a')).mtime.toUTCString(),
      'x-dock-mode': '0640',
    })
    const head = await send('HEAD', 'files', { query: at(join(folder, 'a')) })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
  })

  it.each([
    ['bytes=1-2', 206, 'bc', 'bytes 1-2/6'],
    ['bytes=-2', 206, 'ef', 'bytes 4-5/6'],
    ['bytes=-99', 206, 'abcdef', 'bytes 0-5/6'],
    ['bytes=4-99', 206, 'ef', 'bytes 4-5/6'],
    ['bytes=6-', 416, '', 'bytes */6'],
    ['bytes=-0', 416, '', 'bytes */6'],
    ['bytes=0-1,3-4', 200, 'abcdef', null],
    ['bytes=3-1', 200, 'abcdef', null],
  ])('returns the range %s', async (range, status, text, placed) => {
    writeFileSync(join(folder, 'a'), 'abcdef')
    const answer = await get(join(folder, 'a'), { range })
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      text,
      placed,
    ])
  })

  it('returns empty and large files', async () => {
    writeFileSync(join(folder, 'empty'), '')
    writeFileSync(join(folder, 'large'), Buffer.alloc(5_000_001, 'x'))
    expect(await (await get(join(folder, 'empty'))).text()).toBe('')
    expect((await (await get(join(folder, 'large'))).arrayBuffer()).byteLength).toBe(5_000_001)
  })

  it('refuses what is no regular file, and says how to read a folder', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    symlinkSync('loop', join(folder, 'loop'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    writeFileSync(join(folder, 'file'), '')
    const code = async (path: string) => (await outcome(get(path)))[1]
    expect(await code(folder)).toBe('not_a_regular_file')
    expect(await code(join(folder, 'pipe'))).toBe('not_a_regular_file')
    expect(await code('/dev/null')).toBe('not_a_regular_file')
    expect(await code(join(folder, 'absent'))).toBe('not_found')
    expect(await code(join(folder, 'dangling'))).toBe('not_found')
    expect(await code(join(folder, 'loop'))).toBe('conflict')
    expect(await code(join(folder, 'file/below'))).toBe('conflict')
    expect(await code(`/${'x'.repeat(300)}`)).toBe('validation_error')
    symlinkSync('/dev/null', join(folder, 'to-device'))
    for (const path of ['/dev/null', join(folder, 'pipe'), join(folder, 'to-device')])
      expect((await outcome(get(path, asTar)))[1], path).toBe('not_a_regular_file')
    const said = (await (await get(folder)).json()) as { message: string }
    expect(said.message).toContain('Accept: application/x-tar')
  })
})

const hostile = [
  'with space',
  '-rf',
  '--help',
  'new\nline',
  `quote'"\`$(id)\\`,
  '*?[a]',
  'é𝄞',
  nameOfBytes(Buffer.from([0x61, 0xff, 0xfe])),
  '.hidden',
  'percent%41+',
  'x'.repeat(255),
]

describe('hostile names', () => {
  it.each(hostile)('writes, reads, lists, moves and deletes %j', async (name) => {
    const path = `${folder}/${name}`
    expect(await outcome(put(path, `content of ${name}`))).toMatchObject([200, { name, type: 'file' }])
    expect(await (await get(path)).text()).toBe(Buffer.from(`content of ${name}`).toString())
    expect((await list(folder)).entries.map((entry) => entry.name)).toEqual([name])
    expect((await list(path)).entry.name).toBe(name)
    expect(await outcome(post('mkdir', { path: `${folder}/sub` }))).toMatchObject([200, { type: 'folder' }])
    const moved = await outcome(post('move', { from: path, to: `${folder}/sub/${name}` }))
    expect(moved).toMatchObject([200, { name }])
    expect(await outcome(remove(`${folder}/sub/${name}`))).toEqual([200, { deleted: true }])
    expect(readdirSync(join(folder, 'sub'))).toEqual([])
  })

  it('keeps them in a tar', async () => {
    for (const name of hostile) await put(`${folder}/in/${name}`, 'x')
    mkdirSync(join(folder, 'in'))
    for (const name of hostile) await put(`${folder}/in/${name}`, name)
    const tar = await (await get(join(folder, 'in'), asTar)).arrayBuffer()
    expect((await put(join(folder, 'out'), tar, '', tarType)).status).toBe(200)
    execFileSync('diff', ['-r', join(folder, 'in'), join(folder, 'out')])
    const names = (await list(join(folder, 'out'))).entries.map((entry) => entry.name)
    expect(names.toSorted()).toEqual(hostile.toSorted())
  })
})

describe('writing a file', () => {
  it('sets the mode, keeps that of a file it replaces, and follows links', async () => {
    const path = join(folder, 'a')
    expect(await outcome(put(path, 'one', '&mode=640'))).toMatchObject([
      200,
      { name: 'a', type: 'file', size: 3, mode: '0640', target: null },
    ])
    expect(await outcome(put(path, 'two'))).toMatchObject([200, { mode: '0640' }])
    symlinkSync('a', join(folder, 'link'))
    expect(await outcome(put(join(folder, 'link'), 'three'))).toMatchObject([200, { name: 'a' }])
    expect([readFileSync(path, 'utf8'), readlinkSync(join(folder, 'link'))]).toEqual(['three', 'a'])
    symlinkSync(join(folder, 'new'), join(folder, 'dangling'))
    await put(join(folder, 'dangling'), 'four')
    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('four')
  })

  it('refuses folders, special files, missing parents and the root', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    writeFileSync(join(folder, 'file'), '')
    const code = async (path: string, more = '') => (await outcome(put(path, 'x', more)))[1]
    expect(await code(folder)).toBe('conflict')
    expect(await code(join(folder, 'pipe'))).toBe('not_a_regular_file')
    expect(await code(join(folder, 'absent/file'))).toBe('not_found')
    expect(await code(join(folder, 'file/below'))).toBe('conflict')
    expect(await code('/')).toBe('validation_error')
    expect(await code('relative')).toBe('validation_error')
    expect(await code(join(folder, 'a'), '&mode=9')).toBe('validation_error')
    expect(readdirSync(folder)).toEqual(['file', 'pipe'])
  })

  it('takes JSON and empty bodies as bytes', async () => {
    const path = join(folder, 'a')
    await put(path, '{"a": [', '', { 'content-type': 'application/json' })
    expect(readFileSync(path, 'utf8')).toBe('{"a": [')
    await send('PUT', 'files', { query: at(path) })
    expect(readFileSync(path, 'utf8')).toBe('')
  })

  it('leaves the old file and nothing else if the upload breaks', async () => {
    writeFileSync(join(folder, 'a'), 'old')
    let broken: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        broken = controller
        controller.enqueue(Buffer.alloc(100_000, 'x'))
      },
    })
    const answer = outcome(put(join(folder, 'a'), body))
    await expect.poll(() => readdirSync(folder).length).toBe(2)
    broken?.error(new Error('the client left'))
    expect(await answer).toEqual([400, 'validation_error'])
    await expect.poll(() => readdirSync(folder)).toEqual(['a'])
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('old')
  })
})

describe('a full disk', () => {
  let full: string
  beforeAll(() => {
    full = mkdtempSync(join(tmpdir(), 'dock-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', full])
  })
  afterAll(() => {
    execFileSync('umount', [full])
    rmSync(full, { recursive: true })
  })

  const expectFull = async (sent: Promise<Response>) => {
    const answer = await sent
    expect([answer.status, await answer.json()]).toMatchObject([
      409,
      { code: 'conflict', message: expect.stringMatching(/disk is full/) },
    ])
    expect(readdirSync(full)).toEqual([])
  }

  it('is a conflict that says so, and leaves nothing behind', async () => {
    const large = Buffer.alloc(3_000_000)
    await expectFull(put(join(full, 'a'), large))
    writeFileSync(join(folder, 'large'), large)
    const tar = await (await get(folder, asTar)).arrayBuffer()
    await expectFull(put(join(full, 'sub'), tar, '', tarType))
    await expectFull(put(full, tar, '', tarType))
    await expectFull(post('move', { from: join(folder, 'large'), to: join(full, 'a') }))
    expect(existsSync(join(folder, 'large'))).toBe(true)
  })

  it('does not hinder a move to another filesystem that fits', async () => {
    mkdirSync(join(folder, 'tree'))
    writeFileSync(join(folder, 'tree/a'), 'x')
    expect(await outcome(post('move', { from: join(folder, 'tree'), to: join(full, 'tree') }))).toMatchObject(
      [200, { name: 'tree', type: 'folder' }],
    )
    expect([readdirSync(join(full, 'tree')), existsSync(join(folder, 'tree'))]).toEqual([['a'], false])
    await remove(join(full, 'tree'), '&recursive=true')
    expect(readdirSync(full)).toEqual([])
  })
})

describe('folders as tar', () => {
  it('come back as they were: modes, links, empty folders', async () => {
    const from = join(folder, 'from')
    mkdirSync(join(from, 'deep/er'), { recursive: true })
    mkdirSync(join(from, 'empty'))
    writeFileSync(join(from, 'deep/er/run'), '#!/bin/sh')
    chmodSync(join(from, 'deep/er/run'), 0o751)
    symlinkSync('../absent', join(from, 'link'))
    const answer = await get(from, asTar)
    expect([answer.headers.get('content-type'), answer.headers.get('accept-ranges')]).toEqual([
      'application/x-tar',
      'none',
    ])
    const tar = await answer.arrayBuffer()
    expect(await outcome(put(join(folder, 'to'), tar, '', tarType))).toMatchObject([
      200,
      { name: 'to', type: 'folder' },
    ])
    const lines = (path: string) => execFileSync('find', ['.', '-printf', '%P %y %m %l\n'], { cwd: path })
    expect(String(lines(join(folder, 'to')))).toBe(String(lines(from)))
  })

  it('fill a folder that is there, and refuse to put a file in place of a folder', async () => {
    const [from, to] = [join(folder, 'from'), join(folder, 'to')]
    for (const each of ['from/sub', 'to/sub']) mkdirSync(join(folder, each), { recursive: true })
    writeFileSync(join(from, 'sub/new'), 'new')
    writeFileSync(join(from, 'both'), 'new')
    writeFileSync(join(to, 'both'), 'old')
    writeFileSync(join(to, 'sub/kept'), 'kept')
    const tar = await (await get(from, asTar)).arrayBuffer()
    expect((await put(to, tar, '', tarType)).status).toBe(200)
    expect(readdirSync(join(to, 'sub')).sort()).toEqual(['kept', 'new'])
    expect([readFileSync(join(to, 'both'), 'utf8'), readdirSync(to).sort()]).toEqual(['new', ['both', 'sub']])
    rmSync(join(to, 'both'))
    mkdirSync(join(to, 'both'))
    expect(await outcome(put(to, tar, '', tarType))).toEqual([409, 'conflict'])
    expect(readdirSync(to).sort()).toEqual(['both', 'sub'])
  })

  it('return one file too, and refuse what is not there', async () => {
    writeFileSync(join(folder, '-x'), 'x')
    const tar = Buffer.from(await (await get(join(folder, '-x'), asTar)).arrayBuffer())
    const names = execFileSync('tar', ['-tf', '-'], { input: tar })
    expect(String(names)).toBe('./-x\n')
    expect(await outcome(get(join(folder, 'absent'), asTar))).toEqual([404, 'not_found'])
  })

  it('refuse what is no tar, modes, and files in the way, and leave nothing behind', async () => {
    writeFileSync(join(folder, 'file'), '')
    const bad = (path: string, body: Body, more = '') => outcome(put(path, body, more, tarType))
    expect(await bad(join(folder, 'new'), 'no tar at all'.repeat(1000))).toEqual([400, 'validation_error'])
    expect(await bad(join(folder, 'new'), Buffer.alloc(1024), '&mode=755')).toEqual([400, 'validation_error'])
    expect(await bad(join(folder, 'file'), Buffer.alloc(1024))).toEqual([409, 'conflict'])
    expect(await bad(join(folder, 'absent/new'), Buffer.alloc(1024))).toEqual([404, 'not_found'])
    expect(readdirSync(folder)).toEqual(['file'])
  })

  it('leave nothing behind if the upload breaks, also folders that nobody may write in', async () => {
    const from = join(folder, 'from')
    mkdirSync(join(from, 'locked'), { recursive: true })
    writeFileSync(join(from, 'locked/a'), Buffer.alloc(100_000))
    chmodSync(join(from, 'locked'), 0o555)
    const tar = Buffer.from(await (await get(from, asTar)).arrayBuffer())
    mkdirSync(join(folder, 'to'))
    let broken: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        broken = controller
        controller.enqueue(tar.subarray(0, tar.length - 10_000))
      },
    })
    const answer = outcome(put(join(folder, 'to'), body, '', tarType))
    await expect.poll(() => readdirSync(join(folder, 'to')).length).toBe(1)
    broken?.error(new Error('the client left'))
    expect(await answer).toEqual([400, 'validation_error'])
    await expect.poll(() => readdirSync(join(folder, 'to'))).toEqual([])
  })
})

describe('a folder', () => {
  it('is listed page by page, sorted, with metadata', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `n${String(index).padStart(2, '0')}`)
    for (const name of names) writeFileSync(join(folder, name), name)
    symlinkSync('n00', join(folder, 'z'))
    const found: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 3; pages++) {
      const page = await list(folder, `&limit=10${cursor}`)
      expect(page.entry.type).toBe('folder')
      found.push(...page.entries.map((entry) => entry.name))
      cursor = `&cursor=${page.nextCursor}`
      expect(page.nextCursor === null).toBe(pages === 2)
    }
    expect(found).toEqual([...names, 'z'])
    const [first] = (await list(folder, '&limit=1')).entries
    expect(first).toMatchObject({ name: 'n00', type: 'file', size: 3, target: null })
    expect((await list(join(folder, 'z'))).entry).toMatchObject({ type: 'link', target: 'n00' })
    expect(await outcome(send('GET', 'files/list', { query: at(join(folder, 'absent')) }))).toEqual([
      404,
      'not_found',
    ])
  })

  it('is made once, with mode and parents', async () => {
    const path = join(folder, 'a/b')
    expect(await outcome(post('mkdir', { path }))).toEqual([404, 'not_found'])
    expect(await outcome(post('mkdir', { path, mode: '2750', parents: true }))).toMatchObject([
      200,
      { name: 'b', mode: '2750', type: 'folder' },
    ])
    expect(await outcome(post('mkdir', { path }))).toEqual([409, 'conflict'])
    expect(await outcome(post('mkdir', { path, mode: '700', parents: true }))).toMatchObject([
      200,
      { mode: '2750' },
    ])
    writeFileSync(join(folder, 'file'), '')
    for (const parents of [true, false])
      expect(await outcome(post('mkdir', { path: join(folder, 'file'), parents }))).toEqual([409, 'conflict'])
  })

  it('is deleted only if it is empty or the caller says so', async () => {
    mkdirSync(join(folder, 'a'))
    writeFileSync(join(folder, 'a/file'), '')
    symlinkSync('a', join(folder, 'link'))
    expect(await outcome(remove(join(folder, 'a')))).toEqual([409, 'conflict'])
    expect(await outcome(remove(join(folder, 'link'), '&recursive=true'))).toEqual([200, { deleted: true }])
    expect(readdirSync(join(folder, 'a'))).toEqual(['file'])
    expect(await outcome(remove(join(folder, 'a'), '&recursive=true'))).toEqual([200, { deleted: true }])
    expect(await outcome(remove(join(folder, 'a'), '&recursive=true'))).toEqual([404, 'not_found'])
    expect(await outcome(remove('///', '&recursive=true'))).toEqual([400, 'validation_error'])
  })
})

describe('a move', () => {
  it('replaces a file only on demand, and never a folder', async () => {
    const [from, to] = [join(folder, 'from'), join(folder, 'to')]
    writeFileSync(from, 'new')
    writeFileSync(to, 'old')
    expect(await outcome(post('move', { from, to }))).toEqual([409, 'conflict'])
    expect(await outcome(post('move', { from, to, overwrite: true }))).toMatchObject([200, { name: 'to' }])
    expect(readFileSync(to, 'utf8')).toBe('new')
    mkdirSync(join(folder, 'sub'))
    expect(await outcome(post('move', { from: to, to: join(folder, 'sub'), overwrite: true }))).toEqual([
      409,
      'conflict',
    ])
    expect(await outcome(post('move', { from, to }))).toEqual([404, 'not_found'])
    expect(await outcome(post('move', { from: to, to: join(folder, 'no/such') }))).toEqual([404, 'not_found'])
    const itself = { from: join(folder, 'sub'), to: join(folder, 'sub/below') }
    expect(await outcome(post('move', itself))).toEqual([409, 'conflict'])
  })
})

/** Files of a real Dock, whose programs run in gVisor with the image's perl and tar. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { encodeNameForUrl, type FileChange } from '@dock/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock, run } from './support/dock.ts'
import { useServer } from './support/use-server.ts'

const server = useServer()
const { client, admin } = server
const work = '/home/user/work'
let params: { id: string }
let folder: string

beforeAll(async () => {
  params = { id: (await createDock(server, { diskGiB: 1 })).id }
  folder = mkdtempSync(join(tmpdir(), 'dock-e2e-files-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const send = (method: string, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${admin.baseUrl}/v1/docks/${params.id}/files?path=${encodeNameForUrl(path)}`, {
    ...init,
    method,
    headers: { authorization: `Bearer ${admin.apiKey}`, ...(init.headers as Record<string, string>) },
  })

it('writes, reads, lists, moves and deletes files of any name as the Dock’s user', async () => {
  for (const name of ['plain', 'new\nline', '-rf', 'é', 'byte\udcff']) {
    const path = `${work}/${name}`
    const body = new Uint8Array([0, 255, 10])
    const entry = await client.call('writeDockFile', { params, query: { path, mode: '640' }, body })
    expect(entry).toMatchObject({ name, type: 'file', size: 3, mode: '0640' })
    expect(await client.call('readDockFile', { params, query: { path } })).toEqual(body)
    const to = `${work}/moved`
    await client.call('moveDockFile', { params, body: { from: path, to } })
    expect(await run(server, params.id, `stat -c '%U %s' moved`)).toBe('user 3\n')
    await client.call('deleteDockFile', { params, query: { path: to } })
  }
  await client.call('makeDockFolder', { params, body: { path: `${work}/a/b`, parents: true } })
  const { entries } = await client.call('listDockFiles', { params, query: { path: work } })
  expect(entries.map(({ name, type }) => [name, type])).toEqual([['a', 'folder']])
  await client.call('deleteDockFile', { params, query: { path: `${work}/a`, recursive: true } })
})

it('says what is wrong', async () => {
  const write = (path: string) => client.call('writeDockFile', { params, query: { path }, body: 'x' })
  await expect(write('/etc/x')).rejects.toMatchObject({ code: 'conflict' })
  await expect(write('/absent/x')).rejects.toMatchObject({ code: 'not_found' })
  await expect(client.call('readDockFile', { params, query: { path: work } })).rejects.toMatchObject({
    code: 'not_a_regular_file',
  })
})

it('reads ranges, and passes a tree as tar in both directions', async () => {
  await client.call('writeDockFile', { params, query: { path: `${work}/digits` }, body: '0123456789' })
  const part = await send('GET', `${work}/digits`, { headers: { range: 'bytes=-3' } })
  expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
    206,
    'bytes 7-9/10',
    '789',
  ])
  const tree = join(folder, 'tree')
  execFileSync('bash', [
    '-c',
    `mkdir -p ${tree}/a/b && cd ${tree} && echo x > a/b/c && chmod 700 a && ln -s a l`,
  ])
  const tar = execFileSync('tar', ['-cC', tree, '.'])
  const headers = { 'content-type': 'application/x-tar' }
  const unpacked = await send('PUT', `${work}/tree`, { headers, body: new Uint8Array(tar) })
  expect(unpacked.status).toBe(200)
  const answer = await send('GET', `${work}/tree`, { headers: { accept: 'application/x-tar' } })
  const back = join(folder, 'back')
  execFileSync('bash', ['-c', `mkdir ${back} && tar -xpC ${back}`], {
    input: Buffer.from(await answer.arrayBuffer()),
  })
  const lines = (path: string) =>
    execFileSync('find', ['.', '-printf', '%P %y %m %l\n'], { cwd: path, encoding: 'utf8' })
      .split('\n')
      .sort()
  expect(lines(back)).toEqual(lines(tree))
})

it('leaves nothing of an upload that breaks, and says that a disk is full', {
  timeout: 300_000,
}, async () => {
  const controller = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new Uint8Array(100_000)),
  })
  const sent = send('PUT', `${work}/broken`, {
    body,
    signal: controller.signal,
    ...({ duplex: 'half' } as object),
  }).catch(() => undefined)
  const hidden = () => run(server, params.id, `find ${work} -name '.dock-upload-*' | wc -l`)
  await expect.poll(hidden, { timeout: 30_000 }).toBe('1\n')
  controller.abort()
  await sent
  await expect.poll(hidden, { timeout: 30_000 }).toBe('0\n')

  const url = `${admin.baseUrl}/v1/docks/${params.id}/files?path=${work}/zeros`
  const script = 'head -c 2G /dev/zero | curl -sS -H "$1" -T - "$2"'
  const args = ['-c', script, 'bash', `authorization: Bearer ${admin.apiKey}`, url]
  const { stdout: said } = await promisify(execFile)('bash', args)
  expect(JSON.parse(said)).toMatchObject({ code: 'conflict', message: expect.stringMatching(/disk is full/) })
  expect(await run(server, params.id, 'ls -A | grep -c zeros; true')).toBe('0\n')
})

it('reports changes in a folder', async () => {
  const watched = `${work}/watched`
  await client.call('makeDockFolder', { params, body: { path: watched } })
  const controller = new AbortController()
  const url = `${admin.baseUrl}/v1/docks/${params.id}/files/watch?path=${watched}&recursive=true`
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${admin.apiKey}` },
    signal: controller.signal,
  })
  const changes: FileChange[] = []
  let rest = ''
  const reading = (async () => {
    for await (const chunk of answer.body!) {
      const lines = (rest + Buffer.from(chunk).toString()).split('\n')
      rest = lines.pop() ?? ''
      changes.push(...lines.map((line) => JSON.parse(line) as FileChange))
    }
  })().catch(() => undefined)
  await expect.poll(() => changes.length).toBe(1)
  await run(server, params.id, 'cd watched && mkdir sub && sleep 1 && echo x > sub/a && mv sub/a b && rm b')
  const isFolder = false
  await expect.poll(() => changes.at(-1)).toEqual({ type: 'deleted', path: `${watched}/b`, isFolder })
  expect(changes).toContainEqual({ type: 'created', path: `${watched}/sub`, isFolder: true })
  expect(changes).toContainEqual({ type: 'created', path: `${watched}/sub/a`, isFolder })
  expect(changes).toContainEqual({ type: 'moved', path: `${watched}/sub/a`, to: `${watched}/b`, isFolder })
  controller.abort()
  await reading
})

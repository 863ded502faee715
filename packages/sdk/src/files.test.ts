/** Downloads over connections that break. The server here serves ranges of one file, as Dock does. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient, DockFiles, LocalFileError } from './index.ts'

let server: Server
let files: DockFiles
let folder: string
let content: Buffer
let etag: string | undefined
/** After how many bytes the next responses break off. */
let cuts: number[]
let afterCut: () => void
let ranges: (string | undefined)[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dock-download-'))
  content = Buffer.from(Array.from({ length: 5000 }, (_, index) => `${index}\n`).join(''))
  etag = 'W/"1-2-3"'
  cuts = []
  ranges = []
  afterCut = () => undefined
  server = createServer((request, response) => {
    const { range } = request.headers
    ranges.push(range)
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
    const start = Number(first ?? 0)
    const end = last ? Number(last) + 1 : content.length
    if (start >= content.length) {
      response.writeHead(416, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ ok: false, code: 'range_not_satisfiable', message: 'No.' }))
    }
    if (range) response.setHeader('content-range', `bytes ${start}-${end - 1}/${content.length}`)
    if (etag) response.setHeader('etag', etag)
    response.writeHead(range ? 206 : 200, { 'content-length': end - start, 'x-dock-mode': '4750' })
    const cut = cuts.shift()
    if (cut === undefined) return void response.end(content.subarray(start, end))
    response.write(content.subarray(start, start + cut), () => {
      afterCut()
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  files = new DockFiles(createClient({ baseUrl, apiKey: 'k' }), '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11')
})
afterEach(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

it('goes on where the connection broke, and asks for the rest alone', async () => {
  cuts = [0, 1000, 7, content.length - 1007]
  expect(await files.download('a', join(folder, 'a'))).toEqual({ skippedLinks: [] })
  expect(readFileSync(join(folder, 'a'))).toEqual(content)
  expect(ranges.slice(0, 4)).toEqual([undefined, 'bytes=0-', 'bytes=1000-', 'bytes=1007-'])
})

it('goes on within the part that was asked for', async () => {
  cuts = [10]
  expect(Buffer.from(await files.read('a', { start: 100, end: 200 }))).toEqual(content.subarray(100, 200))
  expect(ranges).toEqual(['bytes=100-199', 'bytes=110-199'])
})

it.each([{ end: 0 }, { start: 7, end: 7 }, { start: 7, end: 3 }])(
  'reads the empty part %j without a request',
  async (part) => {
    expect(await files.read('a', part)).toHaveLength(0)
    expect(ranges).toEqual([])
  },
)

it.each([
  [
    'has another version',
    () => {
      etag = 'W/"1-2-4"'
    },
  ],
  [
    'is longer',
    () => {
      content = Buffer.concat([content, content])
    },
  ],
  [
    'is shorter than what was read',
    () => {
      content = content.subarray(0, 5)
    },
  ],
])('mixes no two versions: the file %s', async (_, change) => {
  cuts = [1000]
  afterCut = change
  await expect(files.download('a', join(folder, 'a'))).rejects.toMatchObject({ code: 'file_changed' })
  expect(readdirSync(folder)).toEqual([])
})

it('does not guess if the service names no version', async () => {
  etag = undefined
  cuts = [1000]
  await expect(files.read('a')).rejects.toMatchObject({ code: 'connection_failed' })
  expect(ranges).toHaveLength(1)
})

it('says as an error of its own that a local file is missing, and opens no pipe', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe')])
  for (const name of ['nosuch', 'pipe'])
    await expect(files.upload(join(folder, name), 'a')).rejects.toBeInstanceOf(LocalFileError)
  expect(ranges).toEqual([])
})

it('keeps the permissions of a file, without its privileges', async () => {
  await files.download('a', join(folder, 'a'))
  expect(statSync(join(folder, 'a')).mode & 0o7777).toBe(0o750)
})

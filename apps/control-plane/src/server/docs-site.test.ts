import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addDocsSite } from './docs-site.ts'
import type { HttpEnvironment } from './request-context.ts'

const folder = await mkdtemp(join(tmpdir(), 'docs-site-'))
const app = new Hono<HttpEnvironment>()
addDocsSite(app, folder)
const text = '<h1>Guides</h1>'

beforeAll(async () => {
  await writeFile(join(folder, 'index.html'), text)
  await writeFile(join(folder, 'index.html.br'), brotliCompressSync(text))
  await writeFile(join(folder, 'secret.html'), 'not in the manifest')
})
afterAll(() => rm(folder, { recursive: true }))

const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
const entry = { type: 'text/html; charset=utf-8', tag: 'abc', immutable: false }
const writeManifest = (names: string[], immutable = false) =>
  writeFile(
    join(folder, 'manifest.json'),
    JSON.stringify(Object.fromEntries(names.map((name) => [name, { ...entry, immutable }]))),
  )

test('says how to build the site while it is not built', async () => {
  const response = await get('/docs/')
  expect(response.status).toBe(503)
  expect(await response.text()).toContain('script/install/docs')
})

test('serves pages compressed, with a policy, and 304 if nothing has changed', async () => {
  await writeManifest(['index.html'])
  const plain = await get('/docs/')
  expect([plain.status, await plain.text(), plain.headers.get('content-encoding')]).toEqual([200, text, null])
  const response = await get('/docs/', { 'accept-encoding': 'gzip, br' })
  expect(response.headers.get('content-encoding')).toBe('br')
  expect(String(brotliDecompressSync(await response.arrayBuffer()))).toBe(text)
  expect(response.headers.get('vary')).toBe('accept-encoding')
  expect(response.headers.get('cache-control')).toBe('public, no-cache')
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
  const tag = response.headers.get('etag') ?? ''
  expect((await get('/docs/', { 'accept-encoding': 'br', 'if-none-match': tag })).status).toBe(304)
  expect((await get('/docs/', { 'if-none-match': tag })).status).toBe(200)
  expect((await get('/docs/', { 'accept-encoding': 'br;q=0' })).headers.get('content-encoding')).toBeNull()
})

test('reads only what the manifest names', async () => {
  await writeManifest(['index.html', 'files/index.html'])
  for (const path of [
    '/docs/secret.html',
    '/docs/manifest.json',
    '/docs/..%2findex.html',
    '/docs/index.html.br',
  ])
    expect((await get(path)).status, path).toBe(404)
  const hostile = [
    ...['..%2f..%2fetc/passwd', '%2e%2e/%2e%2e/etc/passwd', '..%5c..%5cetc%5cpasswd', '.%00./secret.html'],
    ...[
      '/etc/passwd',
      '//evil.test',
      '%2f%2fevil.test/',
      '__proto__',
      'constructor/',
      'index.html%00',
      'index.html/',
    ],
    ...['%c0%ae%c0%ae/secret.html', '%', '%ff', 'x'.repeat(9000), 'files//index.html', './../secret.html'],
  ]
  for (const path of hostile) {
    const response = await get(`/docs/${path}`)
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 404, null])
  }
  const moved = await get('/docs/files')
  expect([moved.status, moved.headers.get('location')]).toEqual([301, '/docs/files/'])
})

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addDashboardPages } from './dashboard-pages.ts'
import type { HttpEnvironment } from './request-context.ts'

let folder: string
let app: Hono<HttpEnvironment>
const script = 'console.log("hello")\n'.repeat(200)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'))
  await mkdir(join(folder, 'dist/assets'), { recursive: true })
  await mkdir(join(folder, 'dist/.vite'))
  await writeFile(join(folder, 'secret.json'), '{}')
  await writeFile(join(folder, 'dist/index.html'), '<i content="%NONCE%"></i><b>%SIGN_UP%</b>')
  await writeFile(join(folder, 'dist/assets/main-abc.js'), script)
  await writeFile(join(folder, 'dist/.vite/manifest.json'), '{}')
  app = new Hono<HttpEnvironment>()
  addDashboardPages(app, {
    folder: join(folder, 'dist'),
    formTarget: 'https://github.test/',
    signUp: 'invite',
  })
})
afterAll(() => rm(folder, { recursive: true }))

const browser = { accept: 'text/html,application/xhtml+xml' }
const get = (path: string, headers: Record<string, string> = browser) =>
  app.fetch(new Request(`http://localhost${path}`, { headers }))

describe('the pages', () => {
  it('are the application at every address that a browser opens, each with a nonce of its own', async () => {
    const nonces = new Set<string>()
    for (const path of ['/', '/docks/5', '/index.html', '/sign-in']) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
      const page = await response.text()
      const nonce = /content="(.+?)"/.exec(page)?.[1]
      expect(page).toContain('<b>invite</b>')
      const policy = response.headers.get('content-security-policy')
      expect(policy).toContain(`'nonce-${nonce}'`)
      expect(policy).toContain("form-action 'self' https://github.test;")
      nonces.add(nonce!)
    }
    expect(nonces.size).toBe(4)
  })

  it('are packed as the client accepts, and never change', async () => {
    const packed = await get('/assets/main-abc.js', { 'accept-encoding': 'gzip, br' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    expect(packed.headers.get('cache-control')).toContain('immutable')
    expect(brotliDecompressSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(script)
    const plain = await get('/assets/main-abc.js', { 'accept-encoding': 'br;q=0' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(await plain.text()).toBe(script)
  })

  it('are only files of the folder that have a known type', async () => {
    for (const path of [
      '/../secret.json',
      '/%2e%2e/secret.json',
      '/.vite/manifest.json',
      '/assets/absent.js',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404])
  })

  it('leave unknown addresses of the service to the service', async () => {
    for (const path of ['/v1/absent', '/api/absent', '/mcp', '/docs/absent'])
      expect([path, (await get(path)).status]).toEqual([path, 404])
    expect((await get('/absent', { accept: '*/*' })).status).toBe(404)
  })
})

it('a server without built pages says so on its front page, until they are there', async () => {
  const late = new Hono<HttpEnvironment>()
  const dist = join(folder, 'late')
  addDashboardPages(late, { folder: dist })
  const open = async () => (await late.fetch(new Request('http://localhost/', { headers: browser }))).text()
  expect(await open()).toContain('is not built')
  await mkdir(dist)
  await writeFile(join(dist, 'index.html'), 'built')
  expect(await open()).toBe('built')
})

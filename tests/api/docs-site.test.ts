/** The documentation as a browser sees it: built by its script, served by the control plane, read in Chromium. */
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { openChromium, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const script = promisify(execFile)(resolve(root, 'script/install/docs'), [], {
  env: { PATH: process.env.PATH },
  timeout: 120_000,
})
script.child.stdin?.end()
await script

const server = await startControlPlaneWithHost()
const browser = await openChromium()
let base = ''
beforeAll(async () => {
  base = `http://127.0.0.1:${(await server.listen()).port}`
})
afterAll(async () => {
  await browser.close()
  await server.stop()
})

/** Opens a page that reports violations of its policy, errors and requests to other servers. */
const open = async (path: string, width: number) => {
  const page = await browser.newPage({ viewport: { width, height: 800 } })
  const problems: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())))
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('request', (request) => void (request.url().startsWith(base) || problems.push(request.url())))
  await page.goto(`${base}${path}`)
  return { page, problems }
}

it('links only to pages and anchors that exist', async () => {
  const texts = new Map<string, string>()
  const waiting = ['/docs/']
  const broken: string[] = []
  const links: [string, string][] = []
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const response = await fetch(`${base}${path}`)
    const text = await response.text()
    texts.set(path, text)
    if (response.status !== 200) broken.push(path)
    if (/\sstyle=|<script(?![^>]*src=)|<style/.test(text)) broken.push(`${path} has inline code`)
    for (const [, link = ''] of text.matchAll(/ href="([^"]*)"/g)) {
      const { pathname, hash, origin } = new URL(link, `${base}${path}`)
      if (origin !== base || !/^\/docs(\/|$)/.test(pathname) || pathname.includes('/assets/')) continue
      links.push([pathname, hash])
      if (!texts.has(pathname) && !waiting.includes(pathname)) waiting.push(pathname)
    }
  }
  for (const [path, hash] of links)
    if (hash !== '' && !texts.get(path)?.includes(` id="${decodeURIComponent(hash.slice(1))}"`))
      broken.push(`${path}${hash}`)
  expect([...new Set(broken)]).toEqual([])
  expect(texts.size).toBeGreaterThan(100)
  for (const path of [
    '/docs/files/',
    '/docs/operate/ssh/',
    '/docs/reference/docks/',
    '/docs/reference/objects/',
  ])
    expect([...texts.keys()]).toContain(path)
})

it('finds a route and opens it, by keyboard', async () => {
  const { page, problems } = await open('/docs/files/', 1280)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('unexposePort')
  const found = '#results a[href="/docs/reference/docks/#unexposePort"]'
  await page.locator(found).waitFor()
  // It need not be the first: another guide may use the same words more often.
  for (let presses = 0; presses < 12 && (await page.locator(`${found}:focus`).count()) === 0; presses++)
    await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/reference/docks/#unexposePort')
  expect(await page.locator('#unexposePort').textContent()).toBe('Stop exposing a port')
  expect(problems).toEqual([])
})

it('shows what somebody searches for as text, and stays usable', async () => {
  const { page, problems } = await open('/docs/files/', 1280)
  const hostile = [
    '<img src=x onerror=document.title=1>',
    '"><script>document.title=1</script>',
    'javascript:document.title=1',
    '__proto__ constructor',
    '(((((a+)+)+)+)+$ [',
    'x'.repeat(20_000),
    '\u202e\u0000\ud800',
  ]
  for (const words of hostile) {
    await page.locator('#search').fill(words)
    await page.keyboard.press('Enter')
  }
  await page.locator('#search').fill('unexposePort')
  await page.locator('#results a[href="/docs/reference/docks/#unexposePort"]').waitFor()
  expect(await page.title()).toContain('Files in a Dock')
  expect(page.url()).toBe(`${base}/docs/files/`)
  expect(problems).toEqual([])
})

it('sends no file for a path that leads out of it, over a connection that changes nothing of the path', async () => {
  const raw = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(base).port), '127.0.0.1')
      let said = ''
      socket.setEncoding('latin1').on('data', (text) => {
        said += text
      })
      socket.on('error', reject).on('close', () => resolve(said))
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })
  expect(await raw('/docs/files/')).toMatch(/^HTTP\/1\.1 200 /)
  for (const path of [
    ...['/docs/../../../../etc/passwd', '/docs/..%2f..%2f..%2fetc/passwd', '/docs/%2e%2e/%2e%2e/etc/passwd'],
    ...[
      '/docs/assets/../manifest.json',
      '/docs/manifest.json',
      '//docs/../etc/passwd',
      '/docs/files/..%00/index.html',
    ],
    ...['/docs/.git/config', '/docs/..\\..\\package.json'],
  ]) {
    const answer = await raw(path)
    expect([path, /^HTTP\/1\.1 (400|404) /.test(answer)]).toEqual([path, true])
    expect(answer).not.toMatch(/root:x:|"immutable"|"workspaces"/)
  }
})

it('fits a phone, where the menu opens on request', async () => {
  for (const path of [
    '/docs/reference/docks/',
    '/docs/reference/objects/',
    '/docs/architecture/',
    '/docs/',
  ]) {
    const { page, problems } = await open(path, 360)
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBe(360)
    expect(await page.locator('#navigation').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    expect(await page.locator('#navigation').isVisible()).toBe(true)
    expect(problems).toEqual([])
    await page.close()
  }
})

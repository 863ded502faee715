/**
 * script/prove dashboard [FOLDER] [PART]: opens every page of the dashboard with lively data and real Docks, in both
 * themes at 360, 1280 and 2560 pixels. axe finds no violation of WCAG 2.2 AA, the browser reports nothing, and nothing
 * is asked of another origin. The keyboard alone reaches every control; the focus always shows, stays in dialogs, and
 * returns when they close. Writes pictures of all into FOLDER, by default a new one. PART is a part of the names of the
 * pages to open. Exits with 1 if anything is wrong.
 */
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChromium } from '@dock/testkit'
import type { Browser, BrowserContext } from 'playwright-core'
import { print } from '../../bench/parts/bench-server.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'
import { inspectPage } from './dashboard/inspect-page.ts'
import { type Lively, makeLively, writeSettings } from './dashboard/lively-data.ts'
import type { Role, ShownPage } from './dashboard/pages/shown-page.ts'
import { drawer, pagesOf } from './dashboard/pages.ts'

const routesFolder = new URL('../../apps/dashboard/src/routes/', import.meta.url)
/** The gallery is not built; `/docks` leads to the list, and an organization to its members. */
const withoutPage = ['/gallery', '/docks', '/', '/organization/$orgId']
const partsOf: Readonly<Record<string, string>> = {
  ...{ '/members': '/organization/$orgId', '/workspaces': '/organization/$orgId' },
  ...{ '/usage': '/organization/$orgId', '/retention': '/organization/$orgId' },
  ...{ '/settings': '/organization/$orgId' },
}

/** Returns the routes of the dashboard that no page of the proof opens. */
const forgottenRoutes = async (pages: readonly ShownPage[]): Promise<string[]> => {
  const files = (await readdir(routesFolder)).filter((name) => name.endsWith('-routes.ts'))
  const sources = await Promise.all(files.map((name) => readFile(new URL(name, routesFolder), 'utf8')))
  const routes = sources.flatMap((source) =>
    [...source.matchAll(/^\s+path: '([^']+)'/gm)].map(([, path]) => path!),
  )
  return routes
    .filter((path) => !withoutPage.includes(path))
    .map((path) => (partsOf[path] ?? '') + path)
    .filter((path) => {
      const shape = new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/?]+')}(\\?|$)`)
      return !pages.some((page) => shape.test(page.path))
    })
}

/** Opens a browser's context for each kind of person, signed in. */
const openContexts = async (browser: Browser, server: Server, { people }: Lively) => {
  const { baseUrl } = server.admin
  const contexts = new Map<Role, BrowserContext>()
  for (const [role, person] of Object.entries({ admin: server.admin, ...people, nobody: undefined })) {
    const context = await browser.newContext({ locale: 'en-GB' })
    contexts.set(role as Role, context)
    if (!person) continue
    const answer = await context.request.post(`${baseUrl}/api/auth/sign-in/email`, {
      headers: { origin: baseUrl },
      data: { email: person.email, password: person.password },
    })
    if (!answer.ok()) throw new Error(`sign-in of ${person.email}: ${answer.status()}`)
  }
  return contexts
}

const [given, part = ''] = process.argv.slice(2)
const folder = given ?? (await mkdtemp(join(tmpdir(), 'dock-dashboard-')))
await mkdir(folder, { recursive: true })

const dataDir = await newDataDir()
const server = await startServer(dataDir, await freePort(), {
  ...(await writeSettings(dataDir)),
  DOCK_SSH_PORT: String(await freePort()),
})
const end = async (): Promise<void> => {
  await server.interrupt()
  await removeDataDir(dataDir)
}
const lively = await makeLively(server).catch(async (error: unknown) => {
  await end()
  throw error
})
const browser = await openChromium()
const contexts = await openContexts(browser, server, lively)
const all = pagesOf(lively)
const forgotten = await forgottenRoutes(all)
let failed = 0
let pictures = 0
for (const path of forgotten) print(`FAILED ${path}: no page of the proof has this route`)
for (const page of all.filter(({ name }) => name.includes(part))) {
  const hasDrawer = page.name === 'docks'
  const seen = await inspectPage(
    contexts.get(page.as)!,
    server.admin.baseUrl,
    page,
    folder,
    hasDrawer ? drawer : undefined,
  )
  pictures += seen.pictures
  const isRight = seen.problems.length === 0
  if (!isRight) failed++
  print(`${isRight ? 'ok    ' : 'FAILED'} ${page.name}: ${seen.controls} controls, ${seen.pictures} pictures`)
  for (const problem of seen.problems) print(`       ${problem}`)
}

await browser.close()
await lively.close()
await end()
print(`${all.length} pages, ${pictures} pictures in ${folder}`)
print(failed + forgotten.length === 0 ? 'every page is right' : `${failed} pages failed`)
process.exit(failed + forgotten.length === 0 ? 0 : 1)

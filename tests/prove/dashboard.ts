/**
 * script/prove dashboard [FOLDER] [PART]: opens every page of the dashboard with lively data and real Docks, in both
 * themes at 360, 1280 and 2560 pixels. axe finds no violation of WCAG 2.2 AA, the browser reports nothing, and nothing
 * is asked of another origin. The keyboard alone reaches every control; the focus always shows, stays in dialogs, and
 * returns when they close. Writes pictures of all into FOLDER, by default a new one. PART is a part of the names of the
 * pages to open, or several with commas. A page that fails does not end the proof. Exits with 1 if anything is wrong.
 */
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChromium } from '@dock/testkit'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { type Github, startGithub } from '@dock/testkit/src/github/start-github.ts'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { print } from '../../bench/parts/bench-server.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'
import { inspectPage, spent } from './dashboard/inspect-page.ts'
import { type Lively, makeLively, writeSettings } from './dashboard/lively-data.ts'
import { type LivelyGithub, makeLivelyGithub } from './dashboard/lively-github.ts'
import { github as pagesOfGithub } from './dashboard/pages/github.ts'
import { runs } from './dashboard/pages/runs.ts'
import type { Role, ShownPage } from './dashboard/pages/shown-page.ts'
import { signedOut } from './dashboard/pages/signed-out.ts'
import { drawer, pagesOf } from './dashboard/pages.ts'

const routesFolder = new URL('../../apps/dashboard/src/routes/', import.meta.url)
/** The gallery is not built; `/docks` leads to the list, and an organization to its members. */
const withoutPage = ['/gallery', '/docks', '/', '/organization/$orgId']
const partsOf: Readonly<Record<string, string>> = {
  ...{ '/members': '/organization/$orgId', '/workspaces': '/organization/$orgId' },
  ...{ '/usage': '/organization/$orgId', '/retention': '/organization/$orgId' },
  ...{ '/settings': '/organization/$orgId' },
}

/** Names the pages of GitHub before there is one. */
const noGithub: LivelyGithub = { installationId: '', atWork: '', proposed: '', failed: '' }

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

type StorageState = BrowserContextOptions['storageState']

/** Signs each kind of person in. Returns their cookies. */
const signInAll = async (browser: Browser, server: Server, { people }: Lively) => {
  const { baseUrl } = server.admin
  const states = new Map<Role, StorageState>()
  for (const [role, person] of Object.entries({ admin: server.admin, ...people })) {
    const context = await browser.newContext()
    const answer = await context.request.post(`${baseUrl}/api/auth/sign-in/email`, {
      headers: { origin: baseUrl },
      data: { email: person.email, password: person.password },
    })
    if (!answer.ok()) throw new Error(`sign-in of ${person.email}: ${answer.status()}`)
    states.set(role as Role, await context.storageState())
    await context.close()
  }
  return states
}

/** Looks at pages side by side, because one alone leaves the processors idle half of the time. */
const looksAtOnce = Math.max(2, Math.min(availableParallelism(), 4))

type Tally = { failed: number; pictures: number; pages: number }

/** Looks at all of the pages and prints what is wrong with each. Each of those that look has its own contexts. */
const inspectAll = async (
  browser: Browser,
  states: Map<Role, StorageState>,
  pages: readonly ShownPage[],
  tally: Tally,
): Promise<void> => {
  const left = [...pages]
  const lookOn = async (): Promise<void> => {
    const contexts = new Map<Role, Awaited<ReturnType<Browser['newContext']>>>()
    for (let page = left.shift(); page; page = left.shift()) {
      const storageState = states.get(page.as)
      const context =
        contexts.get(page.as) ??
        (await browser.newContext({ locale: 'en-GB', ...(storageState && { storageState }) }))
      contexts.set(page.as, context)
      const isDocks = page.name === 'docks'
      const seen = await inspectPage(
        context,
        server.admin.baseUrl,
        page,
        folder,
        isDocks ? drawer : undefined,
      )
      const isRight = seen.problems.length === 0
      tally.pages++
      tally.pictures += seen.pictures
      if (!isRight) tally.failed++
      print(
        `${isRight ? 'ok    ' : 'FAILED'} ${page.name}: ${seen.controls} controls, ${seen.pictures} pictures`,
      )
      for (const problem of seen.problems) print(`       ${problem}`)
    }
    for (const context of contexts.values()) await context.close()
  }
  await Promise.all(Array.from({ length: looksAtOnce }, lookOn))
}

const [given, parts = ''] = process.argv.slice(2)
const folder = given ?? (await mkdtemp(join(tmpdir(), 'dock-dashboard-')))
await mkdir(folder, { recursive: true })
const isWanted = ({ name }: ShownPage): boolean => parts.split(',').some((part) => name.includes(part))

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`
const begin = performance.now()
const dataDir = await newDataDir()
const github: Github = await startGithub()
const server = await startServer(dataDir, await freePort(), {
  ...(await writeSettings(dataDir)),
  ...{ DOCK_SSH_PORT: String(await freePort()), GITHUB_URL: github.url },
})
const tally: Tally = { failed: 0, pictures: 0, pages: 0 }
let browser: Browser | undefined
let lively: Lively | undefined
try {
  lively = await makeLively(server)
  print(`${seconds(performance.now() - begin)} to fill a server`)
  browser = await openChromium()
  const states = await signInAll(browser, server, lively)
  const [firstDay, open, rest] = [runs(), signedOut(lively), pagesOf(lively)]
  for (const path of await forgottenRoutes([...firstDay, ...open, ...rest, ...pagesOfGithub(noGithub)])) {
    print(`FAILED ${path}: no page of the proof has this route`)
    tally.failed++
  }
  const inspect = (pages: readonly ShownPage[]) => inspectAll(browser!, states, pages.filter(isWanted), tally)
  await inspect(firstDay)
  const connects = pagesOfGithub(noGithub).some(isWanted)
  const [connected] = await Promise.all([
    connects ? makeLivelyGithub(server, github) : undefined,
    inspect(open),
  ])
  await inspect([...(connected ? pagesOfGithub(connected) : []), ...rest])
} finally {
  await browser?.close()
  await lively?.close()
  await server.interrupt()
  await github.close()
  await removeDataDir(dataDir)
}
const shares = Object.entries(spent).map(([part, ms]) => `${part} ${seconds(ms)}`)
print(`${seconds(performance.now() - begin)} in all; of the looks: ${shares.join(', ')}`)
print(`${tally.pages} pages, ${tally.pictures} pictures in ${folder}`)
print(tally.failed === 0 ? 'every page is right' : `${tally.failed} failed`)
process.exit(tally.failed === 0 ? 0 : 1)

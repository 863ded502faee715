/** Looks at one page in every width and theme: axe, the keyboard, pictures, and what the browser complains about. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { watchComplaints } from '../../e2e/support/dashboard-page.ts'
import { walkWithTab } from './keyboard.ts'
import type { ShownDialog, ShownPage } from './pages/shown-page.ts'

export type Inspection = { problems: string[]; controls: number; pictures: number }

const widths = [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440 },
] as const
const shownWithinMs = 60_000
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** Pages have the same elements in both themes, so the dark one is asked only about what its colours can break. */
const themes = [
  { theme: 'light', runOnly: { type: 'tag', values: tags } },
  { theme: 'dark', runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } },
] as const

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const inPage = new URL('in-page.js', import.meta.url).pathname

/** What in-page.js adds. The policy of the pages lets no text that is waited for run, only functions. */
type InPage = { dockProof: Record<'isLoading' | 'isDialogOpen' | 'hasReturned', () => boolean> }

/** What the proof spends its time on, in milliseconds. Pages are looked at side by side, so it is more than the proof takes. */
export const spent: Record<'opening' | 'axe' | 'pictures' | 'keyboard', number> = {
  ...{ opening: 0, axe: 0, pictures: 0, keyboard: 0 },
}

const timed = async <T>(part: keyof typeof spent, work: Promise<T>): Promise<T> => {
  const begin = performance.now()
  try {
    return await work
  } finally {
    spent[part] += performance.now() - begin
  }
}

const firstLines = (error: unknown): string => String(error).split('\n').slice(0, 4).join(' ')

type Violation = { id: string; nodes: { target: string[]; failureSummary?: string }[] }

const violationsOf = async (page: Page, runOnly: (typeof themes)[number]['runOnly']): Promise<string[]> => {
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const violations: Violation[] = await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )
  return violations.map(({ id, nodes }) => {
    const why = nodes[0]?.failureSummary?.split('\n')[1]?.trim() ?? ''
    return `axe ${id} on ${nodes.map(({ target }) => target.join(' ')).join(', ')}: ${why}`
  })
}

const untilLoaded = async (page: Page): Promise<void> => {
  await page.waitForFunction(() => !(globalThis as unknown as InPage).dockProof.isLoading(), undefined, {
    timeout: shownWithinMs,
  })
}

/** Takes pictures in both themes, and lets axe look at them. */
const look = async (page: Page, file: string, isWhole: boolean): Promise<string[]> => {
  const problems: string[] = []
  for (const { theme, runOnly } of themes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    for (const violation of await timed('axe', violationsOf(page, runOnly)))
      problems.push(`${theme}: ${violation}`)
    await timed('pictures', page.screenshot({ path: `${file}-${theme}.png`, fullPage: isWhole }))
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  return problems
}

const inspectDialog = async (page: Page, shown: ShownDialog, file: string): Promise<string[]> => {
  const opener = shown.opener(page)
  await opener.scrollIntoViewIfNeeded()
  await opener.focus()
  await page.evaluate('dockProof.rememberOpener()')
  await page.keyboard.press(shown.keys ?? 'Enter')
  const layer = page.locator('[role=dialog], [role=menu]').last()
  await layer.getByText(shown.shows).first().waitFor({ timeout: shownWithinMs })
  const problems = await look(page, file, false)
  if ((await layer.getAttribute('role')) === 'dialog')
    problems.push(...(await timed('keyboard', walkWithTab(page, { isDialog: true }))).problems)
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => !(globalThis as unknown as InPage).dockProof.isDialogOpen())
  const hasReturned = await page
    .waitForFunction(() => (globalThis as unknown as InPage).dockProof.hasReturned(), undefined, {
      timeout: 2_000,
    })
    .then(() => true)
    .catch(() => false)
  if (!hasReturned)
    problems.push(`the focus did not return, but is on ${await page.evaluate('dockProof.whereFocusIs()')}`)
  return problems
}

/** Looks at the page and its dialogs in one width. */
const inspectWidth = async (
  page: Page,
  shown: ShownPage,
  folder: string,
  dialogs: readonly ShownDialog[],
): Promise<Inspection> => {
  const { width } = page.viewportSize()!
  // The walk through the narrower page has scrolled it.
  await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)')
  const problems = await look(page, join(folder, `${shown.name}-${width}`), true)
  if (await page.evaluate('dockProof.scrollsSideways()')) problems.push('the page scrolls sideways')
  const walk = await timed('keyboard', walkWithTab(page))
  problems.push(...walk.problems)
  for (const dialog of dialogs) {
    // A dialog that fails is closed, and the next one is opened.
    const found = await inspectDialog(page, dialog, join(folder, `${dialog.name}-${width}`)).catch(
      async (error: unknown) => {
        await page.keyboard.press('Escape').catch(() => undefined)
        return [firstLines(error)]
      },
    )
    for (const problem of found) problems.push(`${dialog.name}: ${problem}`)
  }
  return { problems, controls: walk.controls, pictures: themes.length * (1 + dialogs.length) }
}

/** Opens the page and its dialogs, and makes the window wider step by step. `drawer` exists on the narrowest width. */
export async function inspectPage(
  context: BrowserContext,
  baseUrl: string,
  shown: ShownPage,
  folder: string,
  drawer?: ShownDialog,
): Promise<Inspection> {
  const problems: string[] = []
  let controls = 0
  let pictures = 0
  const page = await context.newPage()
  page.setDefaultTimeout(shownWithinMs)
  watchComplaints(page, problems)
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && url.origin !== baseUrl) problems.push(`a request to ${url.origin}`)
  })
  const fail = async (where: string, error: unknown): Promise<void> => {
    problems.push(`${where}: ${firstLines(error)}`)
    await page.screenshot({ path: join(folder, `${shown.name}-failed.png`) }).catch(() => undefined)
  }
  const open = async (): Promise<void> => {
    await page.setViewportSize(widths[0])
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    await page.addInitScript({ path: inPage })
    await page.goto(baseUrl + shown.path)
    await page.getByText(shown.shows).filter({ visible: true }).first().waitFor()
    await untilLoaded(page)
    await shown.act?.(page)
    await page.evaluate(axe)
  }
  try {
    await timed('opening', open())
    for (const viewport of widths) {
      await page.setViewportSize(viewport)
      const isNarrow = viewport === widths[0]
      const dialogs = [...(shown.dialogs ?? []), ...(drawer && isNarrow ? [drawer] : [])]
      const where = String(viewport.width)
      try {
        const seen = await inspectWidth(page, shown, folder, dialogs)
        for (const problem of seen.problems) problems.push(`${where}: ${problem}`)
        controls = Math.max(controls, seen.controls)
        pictures += seen.pictures
      } catch (error) {
        await fail(where, error)
      }
    }
    const reports: string[] = await page.evaluate('dockProof.reports')
    for (const report of reports) problems.push(`content security policy: ${report}`)
  } catch (error) {
    await fail('opening', error)
  }
  await page.close()
  return { problems: [...new Set(problems)], controls, pictures }
}

/** Walks through a page with the Tab key: every control is reached, with a visible mark that nothing covers. */
import type { Page } from 'playwright-core'

type Step =
  | { kind: 'nothing' }
  | {
      kind: 'control' | 'terminal' | 'again'
      name: string
      isOutside: boolean
      isMarked: boolean
      isObscured: boolean
    }

/** No page has as many controls. */
const stepsMax = 600
/** Leaves a terminal, to which the Tab key belongs. */
const leaveTerminal = 'Shift+Escape'

const begin = (page: Page): Promise<void> => page.evaluate('dockProof.begin()')
const step = (page: Page): Promise<Step> => page.evaluate('dockProof.step()')
const missed = (page: Page): Promise<string[]> => page.evaluate('dockProof.missed()')

const problemsOf = (seen: Step, isDialog: boolean): string[] => {
  if (seen.kind === 'nothing' || seen.kind === 'again') return []
  return [
    ...(seen.isMarked ? [] : [`the focus does not show on ${seen.name}`]),
    ...(seen.isObscured ? [`something covers ${seen.name} while it has the focus`] : []),
    ...(isDialog && seen.isOutside ? [`the focus left the dialog for ${seen.name}`] : []),
  ]
}

/** Walks until the first control comes again. Returns what is wrong and how many controls there are. */
export async function walkWithTab(
  page: Page,
  { isDialog = false } = {},
): Promise<{ problems: string[]; controls: number }> {
  const problems: string[] = []
  let controls = 0
  let wraps = 0
  await begin(page)
  for (let count = 0; count < stepsMax; count++) {
    await page.keyboard.press('Tab')
    const seen = await step(page)
    if (seen.kind === 'again') break
    if (seen.kind === 'nothing') {
      // After the last control the focus leaves the page, and comes back to its first one.
      if (isDialog) problems.push('the focus left the dialog')
      if (isDialog || ++wraps > 1) break
      continue
    }
    controls++
    problems.push(...problemsOf(seen, isDialog))
    if (seen.kind === 'terminal') await page.keyboard.press(leaveTerminal)
  }
  for (const name of await missed(page)) problems.push(`Tab does not reach ${name}`)
  return { problems, controls }
}

/** A browser that is signed in, and what it measures by itself. */
import { openChromium } from '@dock/testkit'
import type { BrowserContext, Page } from 'playwright-core'
import { signInOn } from '../../tests/e2e/support/dashboard-page.ts'
import type { BenchServer } from './bench-server.ts'

/** Opens Chromium, signs in, and passes a function that opens further signed-in contexts with an empty cache. */
export async function withBrowser(
  { admin }: BenchServer,
  use: (page: Page, newContext: () => Promise<BrowserContext>) => Promise<void>,
): Promise<void> {
  const browser = await openChromium()
  try {
    const viewport = { width: 1280, height: 800 }
    const context = await browser.newContext({ viewport, baseURL: admin.baseUrl })
    const page = await context.newPage()
    await page.goto('/')
    await signInOn(page, admin)
    await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    const storageState = await context.storageState()
    await use(page, () => browser.newContext({ viewport, baseURL: admin.baseUrl, storageState }))
  } finally {
    await browser.close()
  }
}

/** Returns the largest contentful paint of the page, in milliseconds after its navigation began. */
export function largestPaint(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) =>
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: 'largest-contentful-paint', buffered: true }))`)
}

/** Turns the wheel, and returns the times between frames in milliseconds. `turns` are 60 ms apart, of 600 pixels each. */
export async function scroll(page: Page, turns: number): Promise<number[]> {
  await page.mouse.move(640, 500)
  await page.evaluate(`{
    window.frameTimes = []
    let before = performance.now()
    const note = (now) => {
      window.frameTimes.push(now - before)
      before = now
      window.frame = requestAnimationFrame(note)
    }
    window.frame = requestAnimationFrame(note)
  }`)
  for (let turn = 0; turn < turns; turn++) {
    await page.mouse.wheel(0, 600)
    await page.waitForTimeout(60)
  }
  return page.evaluate('cancelAnimationFrame(window.frame), window.frameTimes.slice(1)')
}

/**
 * Measures the dashboard in Chromium on this machine.
 *
 *   script/bench dashboard [PART …]     parts: paint first live list tree triggers; the default is all
 *
 * DOCK_BENCH_COUNT (20) sets the number of samples, DOCK_BENCH_DOCKS (10,000) the length of the list, DOCK_BENCH_FILES
 * (1,000,000) the files of the folder.
 */
import { loadavg } from 'node:os'
import { openDatabase } from '@dock/control-plane/database'
import { type RawBuilder, sql } from 'kysely'
import type { Page } from 'playwright-core'
import { databaseOf } from '../tests/crash/scan.ts'
import { createDock, deleteDock, run } from '../tests/e2e/support/dock.ts'
import { compare, type Figure, percentile, sample } from './figures.ts'
import { type BenchServer, print, usualSize, waitForWarmSandboxes, withServer } from './parts/bench-server.ts'
import { largestPaint, scroll, withBrowser } from './parts/browser.ts'

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback)
const count = number('DOCK_BENCH_COUNT', 20)
const docks = number('DOCK_BENCH_DOCKS', 10_000)
const files = number('DOCK_BENCH_FILES', 1_000_000)
const warm = { DOCK_WARM_POOL: '4' }
const patient = { timeout: 600_000 }

const wanted = (figure: Figure, mostMs: number): void => {
  const holds = percentile(figure, 0.5) <= mostMs
  print(`${compare(figure, undefined)}   wanted p50 ${mostMs} ms: ${holds ? 'holds' : 'MISSED'}`)
}
const execute = async (server: BenchServer, ...statements: RawBuilder<unknown>[]): Promise<void> => {
  const database = openDatabase({ url: databaseOf(server.dataDir), maxConnections: 1 })
  for (const statement of statements) await statement.execute(database.db)
  await database.close()
}
/** Prints how smoothly the page scrolls. */
const printFrames = (name: string, frames: readonly number[]): void => {
  const figure = { name, samplesMs: [...frames] }
  const long = frames.filter((ms) => ms > 50).length
  print(`${compare(figure, undefined)}   longest ${Math.max(...frames).toFixed(0)} ms, ${long} over 50 ms`)
}
const changeIsShown = async (server: BenchServer, id: string, pages: readonly Page[], index: number) => {
  const name = `renamed-${index}-${Date.now()}`
  await server.client.call('updateDock', { params: { id }, body: { name } })
  await Promise.all(pages.map((page) => page.getByText(name, { exact: true }).first().waitFor()))
}

const benchPaint = (): Promise<void> =>
  withServer({ DOCK_EMBEDDED_HOST: 'off' }, (server) =>
    withBrowser(server, async (_, newContext) => {
      const samplesMs: number[] = []
      for (let index = 0; index < count; index++) {
        const context = await newContext()
        const page = await context.newPage()
        await page.goto('/')
        await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
        samplesMs.push(await largestPaint(page))
        await context.close()
      }
      wanted({ name: 'largest contentful paint, no cache', samplesMs }, 1_000)
    }),
  )

const benchFirstDock = (): Promise<void> =>
  withServer(warm, (server) =>
    withBrowser(server, async (page) => {
      const figure: Figure = { name: 'New Dock to `uname -a` in its terminal', samplesMs: [] }
      for (let index = 0; index < count; index++) {
        await page.goto('/')
        await waitForWarmSandboxes(server, 4)
        const begin = performance.now()
        await page.getByRole('button', { name: 'New Dock' }).click()
        const screen = page.locator('.xterm-rows')
        await screen.filter({ hasText: /\$\s*$/ }).waitFor()
        await page.keyboard.type('uname -a\n')
        await screen.filter({ hasText: 'GNU/Linux' }).waitFor()
        figure.samplesMs.push(performance.now() - begin)
        await deleteDock(server, new URL(page.url()).pathname.split('/').at(-1)!)
      }
      wanted(figure, 3_000)
    }),
  )

const benchLive = (): Promise<void> =>
  withServer({}, (server) =>
    withBrowser(server, async (page) => {
      const { id } = await createDock(server)
      wanted(
        await sample('change to one page', count, (index) => changeIsShown(server, id, [page], index), 50),
        1_000,
      )
      const more = await Promise.all(Array.from({ length: 7 }, () => page.context().newPage()))
      await Promise.all(more.map((tab) => tab.goto(server.admin.baseUrl)))
      const tabs = [page, ...more]
      wanted(
        await sample('change to eight tabs', count, (index) => changeIsShown(server, id, tabs, index), 50),
        1_000,
      )
    }),
  )

const benchList = (): Promise<void> =>
  withServer({}, (server) =>
    withBrowser(server, async (page) => {
      const { id } = await createDock(server)
      await execute(
        server,
        sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime, state,
            state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at,
            updated_at)
          select gen_random_uuid(), organization_id, workspace_id, 'many-' || n, image, cpus, memory_mib, disk_gib, runtime,
            'archived', state_changed_at, 1, environment, no_env, false, false, setup_status, created_by,
            created_at - n * interval '1 second', updated_at
          from docks cross join generate_series(1, ${docks}) n where id = ${id}`,
        sql`analyze docks`,
      )
      await page.goto('/')
      await page.getByText('many-1', { exact: true }).waitFor()
      printFrames(`list of ${docks} Docks, frames`, await scroll(page, 100))
      let requests = 0
      page.on('request', (request) => {
        if (request.url().includes('/api/dashboard/docks')) requests++
      })
      const begin = performance.now()
      const last = page.getByText(`many-${docks}`, { exact: true })
      while ((await last.count()) === 0) {
        await page.evaluate('window.scrollTo(0, document.body.scrollHeight)')
        await page.waitForTimeout(20)
      }
      print(
        `to the end of the list: ${((performance.now() - begin) / 1000).toFixed(1)} s, ${requests} requests`,
      )
      await page.evaluate('window.scrollTo(0, 0)')
      requests = 0
      wanted(
        await sample(
          'change with all of them loaded',
          count,
          (index) => changeIsShown(server, id, [page], index),
          50,
        ),
        1_000,
      )
      print(`requests of a change: ${(requests / count).toFixed(1)}`)
    }),
  )

const benchTree = (): Promise<void> =>
  withServer({}, (server) =>
    withBrowser(server, async (page) => {
      page.setDefaultTimeout(patient.timeout)
      const { id } = await createDock(server, { ...usualSize, diskGiB: 20 })
      const perCommand = 100_000
      await run(server, id, 'mkdir many')
      for (let from = 1; from <= files; from += perCommand) {
        const to = Math.min(files, from + perCommand - 1)
        await run(server, id, `cd many && seq -f f%07g ${from} ${to} | xargs touch`, { timeoutSeconds: 600 })
      }
      const begin = performance.now()
      await page.goto(`/docks/${id}?tab=files&path=/home/user/work/many`)
      await page.getByText('f0000001').waitFor()
      print(`folder of ${files} files, first page shown after ${Math.round(performance.now() - begin)} ms`)
      const pages: number[] = []
      page.on('requestfinished', (request) => {
        if (request.url().includes('/files') && request.url().includes('cursor='))
          pages.push(request.timing().responseEnd)
      })
      printFrames('folder, frames', await scroll(page, 200))
      print(compare({ name: 'next page of the folder', samplesMs: pages }, undefined))
    }),
  )

/** A create writes rows of no other table that the live stream watches. */
const liveTriggers = ['docks_live_made', 'docks_live_changed'] as const

const benchTriggers = (): Promise<void> =>
  withServer(warm, async (server) => {
    const set = (verb: 'enable' | 'disable') =>
      execute(
        server,
        ...liveTriggers.map((trigger) => sql.raw(`alter table docks ${verb} trigger ${trigger}`)),
      )
    const create = async (figure: Figure): Promise<void> => {
      await waitForWarmSandboxes(server, 4)
      const begin = performance.now()
      const { id } = await createDock(server, usualSize)
      figure.samplesMs.push(performance.now() - begin)
      await deleteDock(server, id)
    }
    const withTriggers: Figure = { name: 'warm create, with the triggers', samplesMs: [] }
    const without: Figure = { name: 'warm create, without', samplesMs: [] }
    await create({ name: 'warm-up', samplesMs: [] })
    for (let index = 0; index < count; index++) {
      await set('disable')
      await create(without)
      await set('enable')
      await create(withTriggers)
    }
    print(compare(without, undefined))
    const ratio = percentile(withTriggers, 0.5) / percentile(without, 0.5)
    print(`${compare(withTriggers, undefined)}   ratio ${ratio.toFixed(2)}`)
  })

const parts: Readonly<Record<string, () => Promise<void>>> = {
  paint: benchPaint,
  first: benchFirstDock,
  live: benchLive,
  list: benchList,
  tree: benchTree,
  triggers: benchTriggers,
}
const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !(name in parts))
if (unknown !== undefined)
  throw new Error(`there is no part ${unknown}; parts: ${Object.keys(parts).join(', ')}`)
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  print(`\n== ${name}, load ${loadavg()[0]!.toFixed(1)}`)
  await part()
}

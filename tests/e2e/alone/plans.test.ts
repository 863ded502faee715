/** An operator turns billing on, writes plans.json, and gives an organization a plan with script/admin plan. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DockApiError } from '@dock/sdk'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock, deleteDock, run } from '../support/dock.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

const admin = new URL('../../../script/admin', import.meta.url).pathname
const prices = { vcpuSecond: '13.9', memoryGiBSecond: '1.4', diskGiBMonth: 100_000, snapshotGiBMonth: 50_000 }
const plans = {
  currency: 'EUR',
  plans: [{ name: 'single', concurrentDocks: 1, concurrentFastRuns: 1, monthlyBudget: null, prices }],
}

let dataDir: string
let server: Server
beforeAll(async () => {
  dataDir = await newDataDir()
  await writeFile(join(dataDir, 'plans.json'), JSON.stringify(plans))
  server = await startServer(dataDir, await freePort(), { DOCK_BILLING: 'on' })
})
afterAll(async () => {
  await server?.interrupt()
  await removeDataDir(dataDir)
})

const runPlan = async (...args: string[]): Promise<string> =>
  (
    await promisify(execFile)(admin, ['plan', server.admin.organizationId, ...args], {
      env: { ...process.env, DOCK_DATA_DIR: dataDir },
    })
  ).stdout
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof DockApiError ? error.code : Promise.reject(error)),
  )

it('starts no Dock without a plan, one with a plan for one, and counts what it used', async () => {
  expect((await server.client.call('readConfig', {})).billingEnabled).toBe(true)
  expect(await codeOf(createDock(server))).toBe('subscription_required')
  expect(await runPlan()).toContain('single')
  await runPlan('single')
  const dock = await createDock(server)
  expect(await run(server, dock.id, 'echo here')).toBe('here\n')
  expect(await codeOf(createDock(server))).toBe('concurrency_exceeded')

  const params = { id: server.admin.organizationId }
  const month = new Date().toISOString().slice(0, 7)
  const used = async () =>
    Number(
      (await server.client.call('readOrganizationUsage', { params, query: { month } })).total.vcpuSeconds,
    )
  await expect.poll(used).toBeGreaterThan(0)

  await runPlan('none')
  expect(await run(server, dock.id, 'echo still here')).toBe('still here\n')
  await deleteDock(server, dock.id)
  expect(await codeOf(createDock(server))).toBe('subscription_required')
})

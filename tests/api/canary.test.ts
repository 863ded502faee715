/**
 * Secrets are never stored in plain text. The test sends secrets through every route that accepts them, reads them
 * back, and then searches everything that the service writes: the database with its log and WAL, its folder, its log
 * lines.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { startControlPlaneWithHost } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask, makeTenant, type Tenant } from './support/tenant.ts'

const lines: string[] = []
const word = (stem: string): string => `${stem}${randomBytes(12).toString('hex')}`
/** Part of every secret, and of nothing else. */
const canary = word('canary')
/** Part of the names, which are not secret. Finding it proves that the search finds plain text. */
const marker = word('MARKER')

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let tenant: Tenant
beforeAll(async () => {
  server = await startControlPlaneWithHost({ logTo: (line) => lines.push(line) })
  tenant = await makeTenant(server)
})
afterAll(() => server.stop())

const filesWith = async (text: string, folders: readonly string[]): Promise<string[]> =>
  promisify(execFile)('grep', ['-rlaF', '--devices=skip', text, ...folders]).then(
    ({ stdout }) => stdout.trim().split('\n'),
    (error: { code?: number; stdout?: string }) => {
      // Code 1: nothing found. Code 2: a file disappeared during the search; the other results count.
      if (error.code === 1 || error.code === 2) return (error.stdout ?? '').split('\n').filter(Boolean)
      throw error
    },
  )

it('secrets are never written in plain text', { timeout: 180_000 }, async () => {
  const { environmentId, organizationId, workspaceId, owner } = tenant
  const call = <Data>(method: string, path: string, body?: unknown) =>
    ask<Data>(server, owner, method, path, body)
  const environment = `/v1/environments/${environmentId}`
  const value = `${canary} 'of "several"\nlines`
  await call('POST', `${environment}/vars`, { key: marker, value })
  await call('POST', `${environment}/files`, { path: `${marker}/token`, contents: canary })
  const repository = { provider: 'github', repositoryId: '1', fullName: 'owner/name', setupScript: canary }
  await call('POST', `${environment}/repos`, repository)
  await call('PUT', '/v1/agent-credentials', { organizationId, provider: 'openai', key: canary })
  await call('PATCH', environment, { passAgentsCredentials: true, passDockCredentials: true })
  const dock = { workspaceId, name: marker.toLowerCase(), env: { OWN: canary }, setupScript: `: ${canary}` }
  const { id } = await call<{ id: string }>('POST', '/v1/docks', dock)
  await call('POST', `${environment}/vars`, { key: 'SECOND', value: canary })
  await call('POST', `${environment}/upgrade`, {})
  const ran = await server.fetch(`/v1/docks/${id}/exec`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${owner.apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'once',
    },
    body: JSON.stringify({ command: `echo ${canary}`, env: { GIVEN: canary } }),
  })
  expect(await ran.text()).toContain(canary)
  const file = `/v1/docks/${id}/files?path=${fakeProcessFolder()}/${canary}`
  const asPerson = { authorization: `Bearer ${owner.apiKey}` }
  const written = await server.fetch(file, { method: 'PUT', headers: asPerson, body: canary })
  expect(written.status).toBe(200)
  expect(await (await server.fetch(file, { headers: asPerson })).text()).toBe(canary)
  const refused = { key: 'not a name', value: canary }
  expect((await server.call('POST', `${environment}/vars`, refused, owner.apiKey)).status).toBe(400)
  const revealed = await call<object>('POST', `${environment}/secrets:reveal`, {})
  expect(JSON.stringify(revealed)).toContain(canary)

  const signIn = { machineName: `${marker} laptop` }
  const code = await call<{ deviceCode: string; userCode: string }>('POST', '/v1/device/code', signIn)
  const approved = await server.fetch('/device', {
    method: 'POST',
    headers: { cookie: owner.cookie, origin: server.config.apiUrl },
    body: new URLSearchParams({ action: 'approve', code: code.userCode }),
  })
  expect(approved.status).toBe(200)
  const { deviceCode } = code
  const { apiKey } = await call<{ apiKey: string }>('POST', '/v1/device/token', { deviceCode })

  const { db } = server.database
  // The outcome of the command is saved after its answer.
  const kept = sql`select id from exec_keys where outcome_sealed is not null`
  await expect.poll(async () => (await kept.execute(db)).rows).toHaveLength(1)
  await sql`checkpoint`.execute(db)
  const shown = await sql<{ data_directory: string }>`show data_directory`.execute(db)
  const folders = [dirname(shown.rows[0]!.data_directory), server.config.controlDir]
  const found = await filesWith(marker, folders)
  expect(found.some((file) => file.includes('/pg_wal/'))).toBe(true)
  expect(found.some((file) => file.includes('/base/'))).toBe(true)
  const secrets = [canary, apiKey, deviceCode, code.userCode]
  for (const secret of secrets) expect(await filesWith(secret, folders)).toEqual([])
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([])
})

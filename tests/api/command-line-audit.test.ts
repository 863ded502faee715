/** `dock audit`: who reads which log, its filters, and its export. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUuid } from '@dock/foundation'
import { startControlPlaneWithHost } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'
import { makeTenant, type Tenant } from './support/tenant.ts'

type Entry = { action: string; at: string; target: { id: string } | null; actor: { id: string } | null }

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let tenant: Tenant
let cli: Cli
const hostile = 'Ada \u001b[2J'
const old = '2026-01-01T00:00:00.000Z'

beforeAll(async () => {
  server = await startControlPlaneWithHost({})
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  tenant = await makeTenant(server)
  cli = await createCli({ baseUrl, apiKey: tenant.owner.apiKey })
  const { db } = server.database
  await sql`update users set name = ${hostile} where id = ${tenant.member.userId}`.execute(db)
  const place = {
    organization_id: tenant.organizationId,
    through: 'session' as const,
    actor_id: tenant.admin.userId,
  }
  const target = { target_type: 'person', target_id: tenant.member.userId }
  await db
    .insertInto('audit_entries')
    .values([
      {
        ...{ ...place, ...target, at: new Date(), action: 'member.role_changed', address: '192.0.2.7' },
        details: JSON.stringify({ from: 'member', to: 'admin' }),
      },
      { ...place, ...target, at: new Date(old), action: 'member.removed' },
      ...Array.from({ length: 205 }, (_, index) => ({
        ...{
          ...place,
          organization_id: newUuid(),
          at: new Date(Date.parse(old) - index),
          action: 'run.started',
        },
      })),
    ])
    .execute()
})
afterAll(async () => {
  await cli?.remove()
  await server?.stop()
})

const asPerson = ({ apiKey }: { apiKey: string }, ...args: string[]) =>
  cli.run(['audit', '--org', tenant.organizationId, ...args], { env: { DOCK_API_KEY: apiKey } })
const entriesOf = (...args: string[]): Promise<Entry[]> =>
  cli.json('audit', '--org', tenant.organizationId, ...args)

describe('the log of an organization', () => {
  it('is a table for its owner, newest first, with nothing that a terminal obeys', async () => {
    const { code, stdout } = await asPerson(tenant.owner)
    expect(code).toBe(0)
    const [headings, ...rows] = stdout.trimEnd().split('\n')
    expect(headings?.split(/ {2,}/)).toEqual(['TIME', 'WHO', 'WHAT', 'TARGET', 'THROUGH', 'OUTCOME'])
    const changed = rows.find((row) => row.includes('changed the role'))
    expect(changed?.split(/ {2,}/)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      tenant.admin.email,
      'changed the role of Ada \\x1b[2J from member to admin',
      ...[tenant.member.userId, 'browser, 192.0.2.7', 'succeeded'],
    ])
    expect(rows.some((row) => row.includes('created the Dock') && row.includes('API key'))).toBe(true)
    const times = rows.map((row) => row.split(' ')[0])
    expect(times).toEqual(times.toSorted().reverse())
  })

  it('is refused to an admin and a member', async () => {
    for (const person of [tenant.admin, tenant.member]) {
      const { code, stdout, stderr } = await asPerson(person, '--json')
      expect([code, stdout, JSON.parse(stderr).error.code]).toEqual([1, '', 'forbidden'])
    }
  })

  it('is filtered by kind, action, person, target and time', async () => {
    const actions = async (...args: string[]) => (await entriesOf(...args)).map(({ action }) => action)
    const members = ['member.role_changed', 'member.removed']
    expect(await actions('--action', 'member')).toEqual(members)
    expect(await actions('--action', 'member.removed')).toEqual(['member.removed'])
    expect(await actions('--actor', tenant.admin.email)).toEqual(members)
    expect(await actions('--target', tenant.dockId)).toEqual(['dock.created'])
    expect(await actions('--action', 'member', '--since', '1h')).toEqual(['member.role_changed'])
    expect(await actions('--until', '2026-01-02')).toEqual(['member.removed'])
    expect(await entriesOf('--limit', '1')).toHaveLength(1)
  })

  it('says what is wrong with a filter', async () => {
    for (const [args, sentence] of [
      [['--action', 'member.remove'], 'Did you mean "member.removed"?'],
      [['--since', 'yesterday'], '--since needs a time'],
      [['--limit', '0'], '--limit must be at least 1'],
      [['--export', '-', '--limit', '3'], 'Leave out --limit'],
      [['--instance'], 'Leave out --org'],
    ] as const)
      expect(await asPerson(tenant.owner, ...args)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(sentence),
      })
    expect(await asPerson(tenant.owner, '--actor', 'nobody@example.test')).toMatchObject({ code: 5 })
  })

  it('says so if there is no entry', async () => {
    expect(await asPerson(tenant.owner, '--action', 'webhook')).toMatchObject({
      ...{ code: 0, stdout: '', stderr: 'There is no such entry.\n' },
    })
  })

  it('is exported as JSON lines, to standard output or a file that is replaced only after a question', async () => {
    const { stdout } = await asPerson(tenant.owner, '--export', '-', '--action', 'member')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(await entriesOf('--action', 'member'))
    const file = join(cli.folder, 'work/audit.jsonl')
    expect(await asPerson(tenant.owner, '--export', 'audit.jsonl', '--action', 'member')).toMatchObject({
      code: 0,
    })
    expect(await readFile(file, 'utf8')).toBe(stdout)
    expect(await asPerson(tenant.owner, '--export', 'audit.jsonl')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('Replace audit.jsonl?') },
    })
    expect(await readFile(file, 'utf8')).toBe(stdout)
  })
})

describe('the log of the instance', () => {
  const asAdmin = (...args: string[]) =>
    cli.run(['audit', '--instance', ...args], { env: { DOCK_API_KEY: server.admin.apiKey } })

  it('is read page by page by an instance admin', async () => {
    const { stdout } = await asAdmin('--action', 'run', '--limit', '300', '--json')
    expect(JSON.parse(stdout)).toHaveLength(205)
    expect((await asAdmin('--action', 'run', '--export', '-')).stdout.trimEnd().split('\n')).toHaveLength(205)
    expect(await asAdmin('--actor', 'ada@example.test')).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('takes the id of a person') },
    })
    const filtered = JSON.parse(
      (await asAdmin('--actor', tenant.admin.userId, '--limit', '2', '--json')).stdout,
    )
    expect(filtered).toHaveLength(2)
  })

  it('is refused to everybody else', async () => {
    const { stderr } = await cli.run(['audit', '--instance', '--json'])
    expect(JSON.parse(stderr).error.code).toBe('instance_admin_required')
  })
})

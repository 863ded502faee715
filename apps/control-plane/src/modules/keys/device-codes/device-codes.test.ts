import { type DeviceCode, type DeviceCodeProgress, limits, routes } from '@dock/contract'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { withTransaction } from '../../../database/database.ts'
import { dropKeys } from '../drop-keys.ts'
import { pruneDeviceCodes } from './device-code-store.ts'
import { newUserCode, readUserCode } from './user-code.ts'

let server: TestControlPlane
let clock: VirtualClock
let person: TestPerson
const lines: string[] = []
beforeAll(async () => {
  clock = createVirtualClock(new Date())
  server = await startTestControlPlane({ clock, logTo: (line) => lines.push(line) })
})
beforeEach(async () => {
  lines.length = 0
  person = await addPerson(server, { role: 'member' })
})
afterAll(() => server.stop())

const ask = async (machineName = 'laptop'): Promise<DeviceCode> =>
  routes.createDeviceCode.response.parse(
    (await server.call('POST', '/v1/device/code', { machineName }, null)).body.data,
  )
const poll = (deviceCode: string) => server.call('POST', '/v1/device/token', { deviceCode }, null)
const progress = async (deviceCode: string): Promise<DeviceCodeProgress> =>
  routes.redeemDeviceCode.response.parse((await poll(deviceCode)).body.data)
const decide = async (action: string, code: string, headers: Record<string, string> = {}) =>
  server.fetch('/device', {
    method: 'POST',
    headers: { cookie: person.cookie, origin: server.config.apiUrl, ...headers },
    body: new URLSearchParams({ action, code }),
  })
const show = (code: string, headers: Record<string, string> = { cookie: person.cookie }) =>
  server.fetch(`/device?${new URLSearchParams({ code })}`, { headers })
const said = ({ status, body }: Awaited<ReturnType<typeof poll>>) => [status, body.code]

it('gives an approved machine a key of the person once, named after the machine', async () => {
  const code = await ask('my laptop')
  expect(code.userCode).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
  expect(Buffer.from(code.deviceCode, 'base64url')).toHaveLength(32)
  expect(code.verificationUrlComplete).toBe(`${server.config.apiUrl}/device?code=${code.userCode}`)
  expect(await progress(code.deviceCode)).toEqual({ state: 'pending', intervalSeconds: 5 })
  expect((await decide('approve', code.userCode)).status).toBe(200)
  const result = await progress(code.deviceCode)
  if (result.state !== 'approved') throw new Error(result.state)
  expect(result).toMatchObject({ name: 'my laptop', expiresAt: null })
  const me = await server.call('GET', '/v1/me', undefined, result.apiKey)
  expect(me.body.data).toMatchObject({ email: person.email })
  expect(said(await poll(code.deviceCode))).toEqual([400, 'device_code_expired'])
  expect(lines.length).toBeGreaterThan(0)
  const secrets = [result.apiKey, code.deviceCode, code.userCode]
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([])
})

it('does not stand in the way of an account that is being closed', async () => {
  const { deviceCode, userCode } = await ask()
  await decide('approve', userCode)
  const { db } = server.database
  const { result } = await withTransaction(db, async (tx) => {
    await sql`select 1 from users where id = ${person.userId} for update`.execute(tx)
    const polled = poll(deviceCode)
    await expect
      .poll(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        return rows.length
      })
      .toBe(1)
    await dropKeys(tx, person.userId, clock.now())
    return { result: polled }
  })
  expect(said(await result)).toEqual([400, 'device_code_expired'])
})

it('gives the key to one of many concurrent polls', async () => {
  const { deviceCode, userCode } = await ask()
  await decide('approve', userCode)
  const answers = await Promise.all(Array.from({ length: 5 }, () => poll(deviceCode)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  const keys = await sql`select 1 from api_keys where name = 'laptop' and user_id = ${person.userId}`.execute(
    server.database.db,
  )
  expect(keys.rows).toHaveLength(1)
})

it('stores neither a code nor a key in plain text', async () => {
  const { deviceCode, userCode } = await ask()
  await decide('approve', userCode)
  const rows = await sql<{ row: string }>`select device_codes::text as row from device_codes`.execute(
    server.database.db,
  )
  const stored = rows.rows.map(({ row }) => row).join('\n')
  expect(stored).toContain('laptop')
  expect(stored).not.toContain(deviceCode)
  expect(stored).not.toContain(userCode)
})

it('tells a machine that polls too early to slow down, and counts from then on', async () => {
  const { deviceCode } = await ask()
  expect(await progress(deviceCode)).toEqual({ state: 'pending', intervalSeconds: 5 })
  expect(await progress(deviceCode)).toEqual({ state: 'slow_down', intervalSeconds: 10 })
  clock.advance(9_500)
  expect(await progress(deviceCode)).toEqual({ state: 'pending', intervalSeconds: 10 })
})

it('tells a machine that it was denied or is too late, and a person that it is too late', async () => {
  const denied = await ask()
  await decide('deny', denied.userCode)
  expect(said(await poll(denied.deviceCode))).toEqual([403, 'forbidden'])
  expect((await decide('approve', denied.userCode)).status).toBe(404)
  expect(said(await poll(denied.deviceCode))).toEqual([403, 'forbidden'])
  const late = await ask()
  clock.advance(limits.deviceCodes.expirySeconds * 1000)
  expect(said(await poll(late.deviceCode))).toEqual([400, 'device_code_expired'])
  expect((await show(late.userCode)).status).toBe(404)
  expect((await decide('approve', late.userCode)).status).toBe(404)
  expect(said(await poll('nonsense'))).toEqual([400, 'device_code_expired'])
  await pruneDeviceCodes(server.database.db, clock.now())
  clock.advance(1)
  await pruneDeviceCodes(server.database.db, clock.now())
  const left = await sql`select 1 from device_codes`.execute(server.database.db)
  expect(left.rows).toEqual([])
})

it('shows the machine, where it asked from, and what the key reaches, with every name escaped', async () => {
  const { userCode } = await ask('<b>bank</b>\u202e\u0007')
  const page = await show(userCode.toLowerCase().replace('-', ' '))
  const text = await page.text()
  expect(page.status).toBe(200)
  expect(text).toContain('&lt;b&gt;bank&lt;/b&gt;</bdi>')
  expect(text).not.toMatch(/<b>|\u202e/)
  for (const shown of [userCode, 'local', person.email, '(member)']) expect(text).toContain(shown)
  expect(text).not.toContain('<script')
  const policy = page.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

it('asks for a sign-in first, and takes no key for it', async () => {
  const { userCode, deviceCode } = await ask()
  for (const headers of [{}, { authorization: `Bearer ${server.admin.apiKey}` }] as Record<
    string,
    string
  >[]) {
    const page = await (await show(userCode, headers)).text()
    expect(page).not.toContain('laptop')
    const approved = await server.fetch('/device', {
      method: 'POST',
      headers: { ...headers, origin: server.config.apiUrl },
      body: new URLSearchParams({ action: 'approve', code: userCode }),
    })
    expect(approved.status).not.toBe(303)
  }
  expect((await progress(deviceCode)).state).toBe('pending')
})

it('refuses forms of other sites, and forms that do not say where they come from', async () => {
  const { userCode, deviceCode } = await ask()
  const refused: Record<string, string>[] = [
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: '' },
  ]
  for (const headers of refused)
    for (const action of ['approve', 'deny', 'sign-in', 'sign-out'])
      expect([headers, action, (await decide(action, userCode, headers)).status]).toEqual([
        headers,
        action,
        403,
      ])
  expect((await progress(deviceCode)).state).toBe('pending')
})

it('signs in with a password, and says the same for a wrong password and an unknown address', async () => {
  const { userCode } = await ask()
  const signIn = (email: string, password: string) =>
    server.fetch('/device', {
      method: 'POST',
      headers: { origin: server.config.apiUrl },
      body: new URLSearchParams({ action: 'sign-in', code: userCode, email, password }),
    })
  const { email, password } = server.admin
  const wrong = await signIn(email, 'wrong password')
  expect(wrong.status).toBe(401)
  expect(await wrong.text()).toBe(await (await signIn('nobody@example.test', 'wrong password')).text())
  const right = await signIn(email, password)
  expect([right.status, right.headers.get('location')]).toEqual([303, `/device?code=${userCode}`])
  const cookie = right.headers.getSetCookie()[0]!.split(';')[0]!
  expect(await (await show(userCode, { cookie })).text()).toContain('laptop')
})

it('gives no key to closed accounts, unverified addresses and people with twenty keys', async () => {
  const { db } = server.database
  const expectCode = async (values: object, status: number, code: string) => {
    const { userCode, deviceCode } = await ask()
    await decide('approve', userCode)
    await db.updateTable('users').set(values).where('id', '=', person.userId).execute()
    expect(said(await poll(deviceCode))).toEqual([status, code])
  }
  await expectCode({ email_verified: false }, 403, 'email_verification_required')
  const { userCode } = await ask()
  expect((await decide('approve', userCode)).status).toBe(403)
  await db.updateTable('users').set({ email_verified: true }).where('id', '=', person.userId).execute()
  await expectCode({ closed_at: new Date() }, 403, 'account_closed')
  await db.updateTable('users').set({ closed_at: null }).where('id', '=', person.userId).execute()
  await sql`insert into api_keys (user_id, name, key_prefix, key_hash)
    select ${person.userId}, 'k', 'dock_' || n, ('h' || n)::bytea from generate_series(1, 19) n`.execute(db)
  const page = await decide('approve', userCode)
  expect([page.status, await page.text()]).toEqual([409, expect.stringContaining('20 active API keys')])
})

it('limits the codes that an address asks for, by /64, and those that a person tries', async () => {
  const from = async (remoteAddress: string): Promise<number> => {
    const request = new Request(`${server.config.apiUrl}/v1/device/code`, {
      method: 'POST',
      body: JSON.stringify({ machineName: 'm' }),
    })
    const bindings = { incoming: { socket: { remoteAddress } } } as never
    return (await server.controlPlane.app.fetch(request, bindings)).status
  }
  for (let n = 0; n < 30; n += 1) expect(await from(`2001:db8::${n}`)).toBe(201)
  expect(await from('2001:db8::ffff')).toBe(429)
  expect(await from('2001:db8:0:1::1')).toBe(201)
  for (let n = 0; n < 30; n += 1) expect((await show('BCDF-GHJK')).status).toBe(404)
  const { userCode } = await ask()
  expect((await show(userCode)).status).toBe(429)
  expect((await decide('approve', userCode)).status).toBe(429)
})

it('reads a code as people type it, and nothing else', () => {
  expect(readUserCode(' bcdf ghjk ')).toBe('BCDF-GHJK')
  for (const wrong of ['', 'ABCD-EFGH', 'BCDF-GHJ', 'BCDF-GHJKL', '\u0000'.repeat(8), 'B'.repeat(70)])
    expect(readUserCode(wrong)).toBeUndefined()
  const codes = new Set(Array.from({ length: 100 }, newUserCode))
  expect(codes.size).toBe(100)
  for (const code of codes) expect(readUserCode(code)).toBe(code)
})

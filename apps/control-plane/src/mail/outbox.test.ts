import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, systemClock } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFileTransport, createMailer, instanceOf, pruneMails, saveMail } from './index.ts'

let server: TestControlPlane
let folder: string
const sender = { name: 'Dock', address: 'dock@example.test' }
beforeEach(async () => {
  server = await startTestControlPlane({ environment: { DOCK_SIGNUP: 'open' } })
  folder = await mkdtemp(join(tmpdir(), 'dock-mail-'))
})
afterEach(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

it('writes a new person’s verification mail to a file, and its link verifies the address', async () => {
  const answer = await server.fetch('/api/auth/sign-up/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl },
    body: JSON.stringify({ email: 'new@example.test', password: 'a long password', name: 'New' }),
  })
  expect(answer.status).toBe(200)
  const outbox = join(server.config.controlDir, 'outbox')
  const name = await vi.waitFor(
    async () => {
      const mails = (await readdir(outbox)).filter((each) => each.endsWith('.eml'))
      expect(mails).toHaveLength(1)
      return mails[0]!
    },
    { timeout: 60_000 },
  )
  expect((await stat(join(outbox, name))).mode & 0o777).toBe(0o600)
  const mail = (await readFile(join(outbox, name), 'utf8')).replaceAll('=\n', '').replaceAll('=3D', '=')
  expect(mail).toContain('To: new@example.test')
  const link = /http:\/\/\S+\/api\/auth\/verify-email\?token=\S+/.exec(mail)?.[0]
  expect(link).toBeDefined()
  const { pathname, search } = new URL(link!)
  const cookie = answer.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  await server.fetch(pathname + search, { headers: { cookie }, redirect: 'manual' })
  const row = await server.database.db
    .selectFrom('users')
    .select('email_verified')
    .where('email', '=', 'new@example.test')
    .executeTakeFirstOrThrow()
  expect(row.email_verified).toBe(true)
})

it('keeps a mail that could not be sent, with the reason, and retries it later', async () => {
  const { db } = server.database
  const logger = createLogger('test')
  logger.level = 'silent'
  await server.controlPlane.stop()
  const link = { label: 'Open', to: '/docks/1' }
  await saveMail(db, { recipient: 'a@example.test', title: 'S', body: 'B', link })
  const shared = {
    db,
    clock: systemClock,
    logger,
    instance: instanceOf('https://app.example.test'),
    unsubscribeLink: () => ({ url: 'https://example.test/u', when: 'a disk is full' }),
  }
  const failing = createMailer({
    ...shared,
    transport: {
      delivery: 'smtp',
      connections: 4,
      send: () => Promise.reject(new Error('no route')),
      forget: async () => undefined,
      close: () => undefined,
    },
  })
  failing.start()
  await vi.waitFor(async () => {
    const rows = await db.selectFrom('outbox_mails').select('error').execute()
    expect(rows).toEqual([{ error: 'no route' }])
  })
  await failing.stop()
  const after = await db.selectFrom('outbox_mails').selectAll().executeTakeFirstOrThrow()
  expect(after).toMatchObject({ attempts: 1, sent_at: null, error: 'no route' })
  expect(after.next_attempt_at.getTime()).toBeGreaterThan(Date.now())

  await db.updateTable('outbox_mails').set({ next_attempt_at: new Date() }).execute()
  const working = createMailer({ ...shared, transport: createFileTransport(folder, sender) })
  working.start()
  await expect.poll(() => readdir(folder)).toEqual([`${after.id}.eml`])
  await working.stop()
  expect(await readFile(join(folder, `${after.id}.eml`), 'utf8')).toContain(
    'B\n\nOpen:\nhttps://app.example.test/docks/1',
  )
  const sent = await db.selectFrom('outbox_mails').selectAll().executeTakeFirstOrThrow()
  expect(sent.sent_at).not.toBeNull()
  expect(sent.body).toBe('')
})

it('prunes old mails with their files, however many they are, and keeps newer ones', async () => {
  const { db } = server.database
  await server.controlPlane.stop()
  const transport = createFileTransport(folder, sender)
  const send = async (createdAt: string): Promise<string> => {
    const { id } = await db
      .insertInto('outbox_mails')
      .values({ recipient: 'a@example.test', subject: 'S', body: '', created_at: new Date(createdAt) })
      .returning('id')
      .executeTakeFirstOrThrow()
    await transport.send({ id, recipient: 'a@example.test', subject: 'S', text: 'T', html: 'H' })
    return id
  }
  await send('2026-01-01T00:00:00Z')
  const kept = await send('2026-01-02T00:00:00Z')
  await sql`insert into outbox_mails (recipient, subject, body, created_at)
    select 'a@example.test', 'S', '', '2026-01-01T00:00:00Z' from generate_series(1, 1200)`.execute(db)
  const clock = { ...systemClock, now: () => new Date('2026-01-31T12:00:00Z') }
  await pruneMails({ db, clock, transport })
  expect(await readdir(folder)).toEqual([`${kept}.eml`])
  expect(await db.selectFrom('outbox_mails').select('id').execute()).toEqual([{ id: kept }])
})

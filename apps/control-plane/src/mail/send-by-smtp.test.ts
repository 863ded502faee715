/** Sends through a real mail server in a process of its own: STARTTLS, passwords, refusals, silence and death. */
import { type Clock, createLogger, newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { type MailServer, startMailServer } from '@dock/testkit/src/mail/mail-server.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { DeliveryEngine } from '../engine/index.ts'
import { createMailer, createSmtpTransport, insertAlertMails, instanceOf, saveMail } from './index.ts'

let database: FreshDatabase
let mailServer: MailServer
let mailer: DeliveryEngine
let aheadMs: number
let logged: string[]
let organizationId: string

/** Goes with the database's clock, plus the time that a test skips. */
const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) }
const skip = (ms: number): void => {
  aheadMs += ms
  mailer.wake()
}

const start = (url = mailServer.url): void => {
  mailer = createMailer({
    db: database.db,
    clock,
    logger: createLogger('test', { write: (line: string) => void logged.push(line) }),
    transport: createSmtpTransport(url, { name: 'Dock on app.example.test', address: 'dock@example.test' }),
    instance: instanceOf('https://app.example.test'),
    unsubscribeLink: () => ({ url: 'https://example.test/mail/unsubscribe/t', when: 'a disk is full' }),
  })
  mailer.start()
}

beforeEach(async () => {
  logged = []
  database = await createFreshDatabase()
  aheadMs = 0
  mailServer = await startMailServer()
  organizationId = newUuid()
  await sql`insert into organizations (id, name, slug) values (${organizationId}, 'Acme', 'acme')`.execute(
    database.db,
  )
})
afterEach(async () => {
  await mailer.stop()
  await mailServer.stop()
  await database.drop()
})

const save = (recipient: string, title = 'Confirm your address') =>
  saveMail(database.db, { recipient, title, body: 'Body.', link: { label: 'Confirm', to: '/confirm' } })
const saveAlert = (recipient: string) =>
  sql`with mails as (${insertAlertMails(
    {
      type: 'disk_full',
      title: 'The disk is full',
      body: 'Remove files.',
      link: { label: 'Open the Dock', to: '/docks/1' },
      organizationId,
      at: clock.now(),
    },
    sql`select ${newUuid()}::uuid as user_id, ${recipient}::text as email`,
  )}) select 1`.execute(database.db)

const rowOf = (recipient: string) =>
  database.db
    .selectFrom('outbox_mails')
    .selectAll()
    .where('recipient', '=', recipient)
    .executeTakeFirstOrThrow()
/** Waits until an attempt to send the mail has ended. */
const ended = async (recipient: string, status: string, attempts = 1) => {
  await vi.waitFor(
    async () => {
      const row = await rowOf(recipient)
      expect([row.status, row.attempts]).toEqual([status, attempts])
      if (status === 'pending') expect(row.error).not.toBeNull()
    },
    { timeout: 10_000 },
  )
  return rowOf(recipient)
}
const deliveriesOf = async (recipient: string) =>
  (await mailServer.accepted()).filter((mail) => mail.recipient === recipient)

it('sends over TLS with a password, in two parts, and reuses connections', async () => {
  start()
  for (let n = 0; n < 12; n += 1) {
    await save(`person-${n}@example.test`)
    mailer.wake()
    await ended(`person-${n}@example.test`, 'sent')
  }
  const accepted = await mailServer.accepted()
  expect(accepted).toHaveLength(12)
  for (const mail of accepted)
    expect(mail).toMatchObject({ isEncrypted: true, user: 'dock', sender: 'dock@example.test' })
  expect(new Set(accepted.map(({ connection }) => connection)).size).toBe(1)
  const { content } = accepted[0]!
  expect(content).toMatch(/^Content-Type: multipart\/alternative/m)
  expect(content).toMatch(/^Content-Type: text\/plain; charset=utf-8/m)
  expect(content).toMatch(/^Content-Type: text\/html; charset=utf-8/m)
  expect(content).toMatch(/^Subject: Confirm your address \(app\.example\.test\)\r$/m)
  expect(content).not.toMatch(/^List-Unsubscribe/m)
  expect(await rowOf('person-0@example.test')).toMatchObject({
    body: '',
    link: null,
    sent_at: expect.any(Date),
  })
})

it('marks alerts for one-click unsubscribing', async () => {
  start()
  await saveAlert('member@example.test')
  mailer.wake()
  await ended('member@example.test', 'sent')
  const { content } = (await deliveriesOf('member@example.test'))[0]!
  expect(content).toMatch(/^Subject: The disk is full \(Acme on app\.example\.test\)\r$/m)
  expect(content).toMatch(/^List-Unsubscribe: <https:\/\/example\.test\/mail\/unsubscribe\/t>\r$/m)
  expect(content).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
})

it('sends no password to a server whose certificate it does not trust, and keeps the mail', async () => {
  const url = new URL(mailServer.url)
  url.searchParams.delete('tls.ca')
  start(url.href)
  await save('a@example.test')
  mailer.wake()
  await ended('a@example.test', 'pending')
  expect(await mailServer.accepted()).toEqual([])
})

it('keeps mails while the password is wrong, and sends them once it is right', async () => {
  const url = new URL(mailServer.url)
  url.password = 'wrong'
  start(url.href)
  await save('a@example.test')
  mailer.wake()
  expect(await ended('a@example.test', 'pending')).toMatchObject({ reply_code: 535, body: 'Body.' })
  await mailer.stop()
  start()
  skip(31_000)
  await ended('a@example.test', 'sent', 2)
})

it('tries a greylisted mail again after half a minute, with the same Message-ID', async () => {
  start()
  await save('a@greylisted.test')
  mailer.wake()
  const { id, next_attempt_at } = await ended('a@greylisted.test', 'pending')
  expect(next_attempt_at.getTime()).toBeGreaterThanOrEqual(clock.now().getTime() + 29_000)
  expect(await rowOf('a@greylisted.test')).toMatchObject({ reply_code: 451 })
  skip(31_000)
  await ended('a@greylisted.test', 'sent', 2)
  expect((await deliveriesOf('a@greylisted.test')).map(({ messageId }) => messageId)).toEqual([
    `<${id}@example.test>`,
  ])
})

it.each([
  ['nobody@refused.test', 550],
  ['somebody@disliked.test', 554],
])('does not try again after a permanent refusal, and logs no recipient: %s', async (recipient, code) => {
  start()
  await save(recipient)
  await save('fine@example.test')
  mailer.wake()
  await ended('fine@example.test', 'sent')
  const row = await ended(recipient, 'refused')
  expect(row).toMatchObject({
    reply_code: code,
    error: expect.stringContaining(`${code}`),
    body: '',
    link: null,
  })
  skip(3_600_000)
  await save('later@example.test')
  mailer.wake()
  await ended('later@example.test', 'sent')
  expect(await rowOf(recipient)).toMatchObject({ status: 'refused', attempts: 1 })
  expect(logged.join('')).toContain(`"replyCode":${code}`)
  expect(logged.join('')).not.toContain(recipient.split('@')[1])
})

it('does not let a slow domain delay another, and puts account mails before alerts', async () => {
  for (let n = 0; n < 20; n += 1) await saveAlert(`member-${n}@slow.test`)
  await saveAlert('member@example.test')
  start()
  await vi.waitFor(async () => expect(await deliveriesOf('member@example.test')).toHaveLength(1), {
    timeout: 30_000,
  })
  expect((await mailServer.accepted()).length).toBeLessThan(10)
  await save('new@slow.test')
  mailer.wake()
  await ended('new@slow.test', 'sent')
  const order = (await mailServer.accepted()).map(({ recipient }) => recipient)
  // At most three alerts to this domain were on their way, and at most three more were accepted meanwhile.
  expect(order.indexOf('new@slow.test')).toBeLessThan(12)
  await vi.waitFor(async () => expect(await mailServer.accepted()).toHaveLength(22), { timeout: 60_000 })
})

it('loses no mail and sends none twice when the server dies in the middle of mails', async () => {
  const recipients = [
    ...['a@dies.test', 'b@dies.test', 'c@dies.test'],
    ...Array.from({ length: 20 }, (_, n) => `person-${n}@example-${n % 4}.test`),
  ]
  for (const recipient of recipients) await save(recipient)
  mailServer.keepRunning()
  start()
  await vi.waitFor(
    async () => {
      // Less than a lease during the time that an attempt takes.
      skip(31_000)
      const rows = await database.db.selectFrom('outbox_mails').select('status').execute()
      expect(rows.every(({ status }) => status === 'sent')).toBe(true)
    },
    { timeout: 80_000, interval: 2_000 },
  )
  const accepted = await mailServer.accepted()
  for (const recipient of recipients) {
    const { id } = await rowOf(recipient)
    const copies = accepted.filter((mail) => mail.recipient === recipient)
    expect(new Set(copies.map(({ messageId }) => messageId))).toEqual(new Set([`<${id}@example.test>`]))
  }
  expect(accepted).toHaveLength(recipients.length)
})

it('repeats a mail whose acceptance it never learned of, with the same Message-ID', async () => {
  start()
  await save('a@forgetful.test')
  mailer.wake()
  const { id } = await ended('a@forgetful.test', 'pending')
  await mailServer.restart()
  skip(31_000)
  await ended('a@forgetful.test', 'sent', 2)
  skip(3_600_000)
  expect((await deliveriesOf('a@forgetful.test')).map(({ messageId }) => messageId)).toEqual([
    `<${id}@example.test>`,
    `<${id}@example.test>`,
  ])
})

it('ends within seconds while the server is silent, and sends the mail after the next start', async () => {
  start()
  await save('a@silent.test')
  mailer.wake()
  await vi.waitFor(async () => expect((await rowOf('a@silent.test')).attempts).toBe(1), { timeout: 10_000 })
  const startedAt = Date.now()
  await mailer.stop()
  expect(Date.now() - startedAt).toBeLessThan(20_000)
  expect(await rowOf('a@silent.test')).toMatchObject({ status: 'pending', body: 'Body.' })
  start()
})

/** Which mails go first, with a transport whose mails stay on their way for as long as a test wants. */
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DeliveryEngine } from '../engine/index.ts'
import { createMailer, insertAlertMails, instanceOf, saveMail } from './index.ts'
import type { OutgoingMail } from './mail-transport.ts'

let database: FreshDatabase
let mailer: DeliveryEngine
let organizationId: string
/** The mails on their way, each with the function that accepts it. */
let onTheirWay: Map<OutgoingMail, () => void>
let sent: OutgoingMail[]

const create = (clock = systemClock): DeliveryEngine => {
  const logger = createLogger('test')
  logger.level = 'silent'
  return createMailer({
    db: database.db,
    clock,
    logger,
    instance: instanceOf('https://app.example.test'),
    unsubscribeLink: () => ({ url: 'https://example.test/u', when: 'a disk is full' }),
    transport: {
      delivery: 'smtp',
      connections: 11,
      send: (mail) =>
        new Promise((resolve) => {
          sent.push(mail)
          onTheirWay.set(mail, () => {
            onTheirWay.delete(mail)
            resolve()
          })
        }),
      forget: async () => undefined,
      close: () => undefined,
    },
  })
}

beforeEach(async () => {
  database = await createFreshDatabase()
  organizationId = newUuid()
  await sql`insert into organizations (id, name, slug) values (${organizationId}, 'Acme', 'acme')`.execute(
    database.db,
  )
  onTheirWay = new Map()
  sent = []
  mailer = create()
})
afterEach(async () => {
  const stopped = mailer.stop()
  for (const accept of onTheirWay.values()) accept()
  await stopped
  await database.drop()
})

type Over = { userId?: string; cause?: string; item?: string; dueInMs?: number }
const saveAlert = (
  recipient: string,
  { userId = newUuid(), cause, item = 'otter', dueInMs = 0 }: Over = {},
) => {
  const link = { label: 'Open', to: '/docks' }
  const shared = cause && { cause, item, title: '{count} Docks', body: 'Several.', link }
  const mail = {
    type: 'stopped_responding' as const,
    title: `${item} stopped`,
    body: 'One.',
    link,
    organizationId,
    at: new Date(Date.now() + dueInMs),
    ...(shared ? { shared } : {}),
  }
  return sql`with mails as (${insertAlertMails(
    mail,
    sql`select ${userId}::uuid as user_id, ${recipient}::text as email`,
  )}) select 1`.execute(database.db)
}
const saveAccountMail = (recipient: string) =>
  saveMail(database.db, { recipient, title: 'T', body: 'B', link: { label: 'Open', to: '/x' } })
const recipients = (): string[] => [...onTheirWay.keys()].map(({ recipient }) => recipient)
const domains = (): string[] => recipients().map((recipient) => recipient.split('@')[1]!)

it('keeps connections for account mails, however many alerts wait', async () => {
  for (let n = 0; n < 40; n += 1) await saveAlert(`m${n}@slow-${n % 8}.test`)
  mailer.start()
  // 60 % of ten connections.
  await expect.poll(() => onTheirWay.size).toBe(6)
  await saveAccountMail('new@slow-1.test')
  mailer.wake()
  await expect.poll(recipients).toContain('new@slow-1.test')
  expect(onTheirWay.size).toBe(7)
})

it('sends account mails first when both wait', async () => {
  for (let n = 0; n < 10; n += 1) await saveAlert(`m${n}@a${n}.test`)
  for (let n = 0; n < 12; n += 1) await saveAccountMail(`new@z${n}.test`)
  mailer.start()
  await expect.poll(() => onTheirWay.size).toBe(10)
  expect(domains().every((domain) => domain.startsWith('z'))).toBe(true)
})

it('gives each domain its share: a domain with a long queue does not hold up one with a single mail', async () => {
  for (let n = 0; n < 20; n += 1) await saveAlert(`m${n}@a.test`)
  for (let n = 0; n < 20; n += 1) await saveAlert(`m${n}@b.test`)
  mailer.start()
  await expect
    .poll(() => domains().toSorted())
    .toEqual(['a.test', 'a.test', 'a.test', 'b.test', 'b.test', 'b.test'])
  await saveAlert('only@z.test')
  onTheirWay.values().next().value!()
  await expect.poll(domains).toContain('z.test')
})

it('gathers alerts of one cause into one mail for each person, until it is sent', async () => {
  const [ada, bob] = [newUuid(), newUuid()]
  for (const item of ['otter', 'lynx', 'heron']) {
    await saveAlert('ada@a.test', { userId: ada, cause: 'host 1', item, dueInMs: -10_000 })
    if (item === 'otter')
      await saveAlert('bob@b.test', { userId: bob, cause: 'host 1', item, dueInMs: -10_000 })
    if (item === 'lynx')
      await saveAlert('ada@a.test', { userId: ada, cause: 'host 2', item, dueInMs: -10_000 })
  }
  mailer.start()
  await expect.poll(() => sent.length).toBe(3)
  const place = '(Acme on app.example.test)'
  expect(sent.map(({ recipient, subject }) => `${recipient}: ${subject}`).toSorted()).toEqual([
    `ada@a.test: 3 Docks ${place}`,
    `ada@a.test: lynx stopped ${place}`,
    `bob@b.test: otter stopped ${place}`,
  ])
  expect(sent.find(({ subject }) => subject.startsWith('3 '))?.text).toContain('- otter\n- lynx\n- heron\n')
  await saveAlert('ada@a.test', { userId: ada, cause: 'host 1', item: 'wren', dueInMs: -10_000 })
  mailer.wake()
  await expect.poll(() => sent.at(-1)?.subject).toBe(`wren stopped ${place}`)
})

it('waits ten seconds for further alerts of the same cause', async () => {
  const userId = newUuid()
  await saveAlert('ada@a.test', { userId, cause: 'host 1' })
  await saveAccountMail('new@a.test')
  mailer.start()
  await expect.poll(recipients).toEqual(['new@a.test'])
  const row = await database.db
    .selectFrom('outbox_mails')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  expect(row.next_attempt_at.getTime() - row.created_at.getTime()).toBe(10_000)
  await saveAlert('ada@a.test', { userId, cause: 'host 1', dueInMs: 600_000 })
  const later = await database.db
    .selectFrom('outbox_mails')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  expect(later.next_attempt_at.getTime() - row.created_at.getTime()).toBe(120_000)
})

const statuses = async (): Promise<string[]> =>
  (await database.db.selectFrom('outbox_mails').select('status').orderBy('status').execute()).map(
    ({ status }) => status,
  )

it('repeats the mail of a sender that does not come back once its lease has expired, not earlier', async () => {
  await saveAccountMail('a@a.test')
  mailer.start()
  await expect.poll(recipients).toEqual(['a@a.test'])
  const createLater = (seconds: number): DeliveryEngine =>
    create({ ...systemClock, now: () => new Date(Date.now() + seconds * 1_000) })
  const early = createLater(100)
  early.start()
  await saveAccountMail('b@b.test')
  await expect.poll(recipients).toContain('b@b.test')
  expect(recipients()).toEqual(['a@a.test', 'b@b.test'])
  for (const [mail, accept] of onTheirWay) if (mail.recipient === 'b@b.test') accept()
  // Either engine may have claimed b. Once it is recorded as sent, only the mail to a is left.
  await expect.poll(statuses).toEqual(['pending', 'sent'])
  await early.stop()
  const other = createLater(121)
  other.start()
  await expect.poll(recipients).toEqual(['a@a.test', 'a@a.test'])
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2)
  for (const accept of onTheirWay.values()) accept()
  await other.stop()
  expect(await statuses()).toEqual(['sent', 'sent'])
})

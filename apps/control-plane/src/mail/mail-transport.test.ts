import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSmtpTransport } from './mail-transport.ts'
import { createMailer, saveMail } from './outbox.ts'

let database: FreshDatabase
let mailHost: SMTPServer
let refusal: Error | null
let received: string[]
beforeEach(async () => {
  database = await createFreshDatabase()
  refusal = null
  received = []
  mailHost = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _, done) => {
      text(stream).then((content) => {
        if (!refusal) received.push(content)
        done(refusal)
      }, done)
    },
  })
  await new Promise<void>((resolve) => mailHost.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await new Promise<void>((resolve) => mailHost.close(resolve))
  await database.drop()
})

it('sends mails by SMTP, and retries with the same message id until the mail host accepts', async () => {
  const { db } = database
  const logger = createLogger('test')
  logger.level = 'silent'
  const { port } = mailHost.server.address() as AddressInfo
  const once = async (): Promise<void> => {
    await db
      .updateTable('outbox_mails')
      .set({ next_attempt_at: new Date(0) })
      .execute()
    const mailer = createMailer({
      db,
      clock: systemClock,
      logger,
      transport: createSmtpTransport(`smtp://127.0.0.1:${port}`, 'dock@example.test'),
      appUrl: 'https://app.example.test',
    })
    mailer.start()
    await mailer.stop()
  }
  await saveMail(db, { recipient: 'b@example.test', subject: 'Later', body: 'Body.', linkPath: '/docks/1' })
  refusal = new Error('not now')
  await once()
  const row = () => db.selectFrom('outbox_mails').selectAll().executeTakeFirstOrThrow()
  expect(await row()).toMatchObject({ attempts: 1, sent_at: null, body: 'Body.' })
  refusal = null
  await once()
  const { id, body, sent_at } = await row()
  expect([body, sent_at]).toEqual(['', expect.any(Date)])
  expect(received).toHaveLength(1)
  expect(received[0]).toContain(`Message-ID: <${id}@example.test>`)
  expect(received[0]).toContain('https://app.example.test/docks/1')
  await once()
  expect(received).toHaveLength(1)
})

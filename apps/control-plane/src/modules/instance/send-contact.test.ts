import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { rateLimits } from '@dock/contract'
import { type Clock, systemClock } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { SMTPServer } from 'smtp-server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFileTransport, pruneMails } from '../../mail/index.ts'

let mailHost: SMTPServer
let received: { recipients: string[]; content: string }[]
let refusal: Error | null
let server: TestControlPlane

beforeEach(async () => {
  received = []
  refusal = null
  mailHost = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, session, done) => {
      text(stream).then((content) => {
        if (refusal) return done(refusal)
        received.push({ recipients: session.envelope.rcptTo.map(({ address }) => address), content })
        done()
      }, done)
    },
  })
  await new Promise<void>((resolve) => mailHost.listen(0, '127.0.0.1', resolve))
  const { port } = mailHost.server.address() as AddressInfo
  server = await startTestControlPlane({
    environment: { SMTP_URL: `smtp://127.0.0.1:${port}`, DOCK_CONTACT_EMAIL: 'team@example.test' },
  })
})
afterEach(async () => {
  await server.stop()
  await new Promise<void>((resolve) => mailHost.close(resolve))
})

const message = {
  name: 'Ada',
  email: 'ada@example.test',
  company: 'Engines',
  topic: 'business',
  message: 'Hello,\nhow are you?',
}
const send = (body: object = message) => server.call('POST', '/v1/contact', body, null)

it('is mailed to the operator, with the sender as the reply address', async () => {
  expect((await send()).body).toEqual({ ok: true, data: { sent: true } })
  expect(received).toHaveLength(1)
  expect(received[0]?.recipients).toEqual(['team@example.test'])
  const [head = '', ...body] = received[0]!.content.split('\r\n\r\n')
  expect(head).toContain('Reply-To: ada@example.test')
  expect(head).toContain('Subject: Contact: business')
  expect(body.join('\r\n\r\n')).toContain('Hello,\r\nhow are you?')
  expect((await server.call('GET', '/v1/config', undefined, null)).body.data).toMatchObject({
    mailDelivery: 'smtp',
  })
})

it('reports that the mail could not be sent', async () => {
  refusal = new Error('mailbox full')
  const answer = await send()
  expect([answer.status, answer.body.code]).toEqual([503, 'mail_unavailable'])
  expect(JSON.stringify(answer.body)).not.toContain('mailbox full')
})

it('is rate limited per client address, and refused when it is incomplete or invalid', async () => {
  const withHeader = { ...message, name: 'Ada\r\nBcc: all@example.test' }
  const noTopic = { ...message, topic: 'other' }
  for (const body of [withHeader, noTopic, { ...message, email: 'nobody' }, { topic: 'business' }])
    expect((await send(body)).body.code).toBe('validation_error')
  const statuses: number[] = []
  for (let n = 0; n <= rateLimits.contactMessages.max; n += 1) statuses.push((await send()).status)
  expect(statuses).toEqual([200, 200, 200, 429])
})

it('is deleted from the file outbox after the same time as other mails', async () => {
  await server.stop()
  server = await startTestControlPlane()
  const outbox = join(server.config.controlDir, 'outbox')
  expect((await send()).status).toBe(200)
  expect(await readdir(outbox)).toHaveLength(1)
  const transport = createFileTransport(outbox, { name: 'Dock', address: 'dock@example.test' })
  const inDays = (days: number): Clock => ({
    ...systemClock,
    now: () => new Date(Date.now() + days * 24 * 3_600_000),
  })
  const { db } = server.database
  await pruneMails({ db, clock: inDays(29), transport })
  expect(await readdir(outbox)).toHaveLength(1)
  await pruneMails({ db, clock: inDays(31), transport })
  expect(await readdir(outbox)).toEqual([])
})

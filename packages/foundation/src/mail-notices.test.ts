import { expect, it } from 'vitest'
import { listMailNotices } from './mail-notices.ts'

const publicUrl = 'https://dock.example.com'
const smtpUrl = 'smtp://mail.example.com'
const mailFrom = 'dock@example.com'

it('names what will not work on a public instance without a mail server', () => {
  const [notice, ...more] = listMailNotices({ publicUrl, smtpUrl: undefined, mailFrom })
  expect(more).toEqual([])
  for (const word of ['SMTP_URL', 'confirm', 'password', 'invitation', 'alerts', 'control/outbox'])
    expect(notice).toContain(word)
})

it('asks for a sender that mail servers accept', () => {
  for (const sender of [undefined, 'dock@dock.localhost'])
    expect(listMailNotices({ publicUrl, smtpUrl, mailFrom: sender })[0]).toContain('DOCK_MAIL_FROM')
})

it.each([
  { publicUrl, smtpUrl, mailFrom },
  { publicUrl: undefined, smtpUrl: undefined, mailFrom: undefined },
  { publicUrl: 'http://127.0.0.1:8080', smtpUrl: undefined, mailFrom: undefined },
  { publicUrl: 'http://dock.localhost', smtpUrl: undefined, mailFrom: undefined },
])('says nothing if mail is set up or nobody else uses the instance: %o', (settings) => {
  expect(listMailNotices(settings)).toEqual([])
})

/** Sends mails: by SMTP, or as files in a folder if no mail host is configured. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import { createTransport } from 'nodemailer'

export type OutgoingMail = {
  id: string
  recipient: string
  subject: string
  body: string
  /** Address for replies, if it is not the sender. */
  replyTo?: string
}

export type MailTransport = {
  /** Shown by GET /v1/config. `log` means that mails are only written to files. */
  delivery: 'log' | 'smtp'
  send(mail: OutgoingMail): Promise<void>
  /** Deletes what the transport has stored of these mails. */
  forget(ids: readonly string[]): Promise<void>
}

/** Timeouts in milliseconds, so that a mail host that hangs causes an error and a retry. */
const smtpTimeouts = { connectionTimeout: '10000', greetingTimeout: '10000', socketTimeout: '20000' }

const withTimeouts = (address: string): string => {
  const url = new URL(address)
  for (const [name, ms] of Object.entries(smtpTimeouts))
    if (!url.searchParams.has(name)) url.searchParams.set(name, ms)
  return url.href
}

const message = (from: string, mail: OutgoingMail) => ({
  from,
  to: mail.recipient,
  subject: mail.subject,
  text: mail.body,
  ...(mail.replyTo === undefined ? {} : { replyTo: mail.replyTo }),
  // The same for each attempt, so that receivers recognize a mail that was sent twice.
  messageId: `<${mail.id}@${from.slice(from.indexOf('@') + 1)}>`,
})

/** Creates a transport that sends through a mail host, `smtp://` or `smtps://`. */
export function createSmtpTransport(url: string, from: string): MailTransport {
  const transport = createTransport(withTimeouts(url))
  return {
    delivery: 'smtp',
    send: async (mail) => {
      await transport.sendMail(message(from, mail))
    },
    forget: async () => undefined,
  }
}

/**
 * Creates a transport that writes each mail to `<folder>/<id>.eml`. Only the owner can read the files, because mails
 * contain links that sign in.
 */
export function createFileTransport(folder: string, from: string): MailTransport {
  const pathOf = (id: string): string => join(folder, `${id}.eml`)
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  return {
    delivery: 'log',
    send: async (mail) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const sent = await transport.sendMail(message(from, mail))
      if (!Buffer.isBuffer(sent.message)) throw new Error('the mail was not composed into memory')
      await writeFileDurably(pathOf(mail.id), sent.message)
    },
    forget: async (ids) => {
      for (const id of ids) await rm(pathOf(id), { force: true })
    },
  }
}

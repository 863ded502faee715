/** How a mail leaves: by SMTP, or as a file in a folder where no mail host is set. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import { createTransport } from 'nodemailer'

export type OutgoingMail = {
  id: string
  recipient: string
  subject: string
  body: string
  /** Whom an answer reaches, where that is not the sender. */
  replyTo?: string
}

export type MailTransport = {
  /** What GET /v1/config says: `log` when mails are files only. */
  delivery: 'log' | 'smtp'
  send(mail: OutgoingMail): Promise<void>
  /** Destroys what is kept of mails that were sent. */
  forget(ids: readonly string[]): Promise<void>
}

/** A mail host that hangs is given up: whoever waits can be told, and the mail is tried again. */
const patience = { connectionTimeout: '10000', greetingTimeout: '10000', socketTimeout: '20000' }

const withPatience = (url: string): string => {
  const patient = new URL(url)
  for (const [name, ms] of Object.entries(patience))
    if (!patient.searchParams.has(name)) patient.searchParams.set(name, ms)
  return patient.href
}

const message = (from: string, mail: OutgoingMail) => ({
  from,
  to: mail.recipient,
  subject: mail.subject,
  text: mail.body,
  ...(mail.replyTo === undefined ? {} : { replyTo: mail.replyTo }),
  // The same for each attempt, so that receivers recognise a mail sent twice.
  messageId: `<${mail.id}@${from.slice(from.indexOf('@') + 1)}>`,
})

/** Sends through a mail host, `smtp://` or `smtps://`. */
export function createSmtpTransport(url: string, from: string): MailTransport {
  const transport = createTransport(withPatience(url))
  return {
    delivery: 'smtp',
    send: async (mail) => {
      await transport.sendMail(message(from, mail))
    },
    forget: async () => undefined,
  }
}

/** Writes each mail to `<folder>/<id>.eml`, readable by the owner alone: mails hold links that sign in. */
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

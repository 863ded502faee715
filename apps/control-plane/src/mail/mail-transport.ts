/** How a mail leaves: by SMTP, or as a file in a folder where no mail host is set. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import { createTransport } from 'nodemailer'

export type OutgoingMail = { id: string; recipient: string; subject: string; body: string }

export type MailTransport = {
  /** What GET /v1/config says: `log` when mails are files only. */
  delivery: 'log' | 'smtp'
  send(mail: OutgoingMail): Promise<void>
}

const message = (from: string, mail: OutgoingMail) => ({
  from,
  to: mail.recipient,
  subject: mail.subject,
  text: mail.body,
  // The same for each attempt, so that receivers recognise a mail sent twice.
  messageId: `<${mail.id}@${from.slice(from.indexOf('@') + 1)}>`,
})

/** Sends through a mail host, `smtp://` or `smtps://`. */
export const createSmtpTransport = (url: string, from: string): MailTransport => {
  const transport = createTransport(url)
  return {
    delivery: 'smtp',
    send: async (mail) => {
      await transport.sendMail(message(from, mail))
    },
  }
}

/** Writes each mail to `<folder>/<id>.eml`, readable by the owner alone: mails hold links that sign in. */
export const createFileTransport = (folder: string, from: string): MailTransport => {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  return {
    delivery: 'log',
    send: async (mail) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const sent = await transport.sendMail(message(from, mail))
      if (!Buffer.isBuffer(sent.message)) throw new Error('the mail was not composed into memory')
      await writeFileDurably(join(folder, `${mail.id}.eml`), sent.message)
    },
  }
}

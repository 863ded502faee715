/** Sends mails: by SMTP, or as files in a folder if no mail server is configured. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import type { Transporter } from 'nodemailer'
import type { RenderedMail } from './render-mail.ts'

export type OutgoingMail = RenderedMail & {
  id: string
  recipient: string
  /** Address for replies, if it is not the sender. */
  replyTo?: string
}

export type MailSender = { name: string; address: string }

export type MailTransport = {
  /** Shown by GET /v1/config. `log` means that mails are only written to files. */
  delivery: 'log' | 'smtp'
  /** How many mails can be sent at the same time. */
  connections: number
  /** Sends a mail. Breaks off when `signal` aborts. */
  send(mail: OutgoingMail, signal?: AbortSignal): Promise<void>
  /** Deletes what the transport has stored of these mails. */
  forget(ids: readonly string[]): Promise<void>
  /** Closes idle connections. */
  close(): void
}

/** Most mail servers accept 20 connections or more of one client. */
const usualConnections = 20

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * Returns the URL with Dock's defaults: a pool of connections, timeouts in milliseconds, so that a mail server that
 * hangs causes an error and a retry, and no password without TLS, except to this machine.
 */
const withDefaults = (address: string): URL => {
  const url = new URL(address)
  const defaults: Record<string, string> = {
    pool: 'true',
    maxConnections: String(usualConnections),
    connectionTimeout: '10000',
    greetingTimeout: '10000',
    socketTimeout: '60000',
    ...(url.username !== '' && !loopback.test(url.hostname) ? { requireTLS: 'true' } : {}),
  }
  for (const [name, value] of Object.entries(defaults))
    if (!url.searchParams.has(name)) url.searchParams.set(name, value)
  return url
}

const message = (from: MailSender, mail: OutgoingMail) => ({
  from,
  to: { name: '', address: mail.recipient },
  subject: mail.subject,
  text: mail.text,
  html: mail.html,
  // Never base64, so that the files of the outbox are readable in any language.
  textEncoding: 'quoted-printable' as const,
  ...(mail.replyTo === undefined ? {} : { replyTo: mail.replyTo }),
  // The same for each attempt, so that receivers recognize a mail that was sent twice.
  messageId: `<${mail.id}@${from.address.slice(from.address.indexOf('@') + 1)}>`,
  headers: {
    // RFC 3834: automatic responders do not respond.
    'Auto-Submitted': 'auto-generated',
    ...(mail.unsubscribeUrl === undefined
      ? {}
      : {
          'List-Unsubscribe': { prepared: true, value: `<${mail.unsubscribeUrl}>` },
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        }),
  },
})

/** Creates a transport that sends through a mail server, `smtp://` or `smtps://`. */
export function createSmtpTransport(address: string, from: MailSender): MailTransport {
  const url = withDefaults(address)
  // The first mail loads the library.
  let transport: Transporter | undefined
  const load = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
    transport ??= createTransport(url.href)
    return transport
  }
  return {
    delivery: 'smtp',
    connections: Math.max(1, Number(url.searchParams.get('maxConnections')) || usualConnections),
    send: async (mail, signal) => {
      await (await load()).sendMail({ ...message(from, mail), ...(signal ? { signal } : {}) })
    },
    forget: async () => undefined,
    close: () => transport?.close(),
  }
}

/**
 * Creates a transport that writes each mail to `<folder>/<id>.eml`. Only the owner can read the files, because mails
 * contain links that sign in.
 */
export function createFileTransport(folder: string, from: MailSender): MailTransport {
  const pathOf = (id: string): string => join(folder, `${id}.eml`)
  return {
    delivery: 'log',
    connections: usualConnections,
    send: async (mail) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
      const sent = await transport.sendMail(message(from, mail))
      if (!Buffer.isBuffer(sent.message)) throw new Error('the mail was not composed into memory')
      await writeFileDurably(pathOf(mail.id), sent.message)
    },
    forget: async (ids) => {
      for (const id of ids) await rm(pathOf(id), { force: true })
    },
    close: () => undefined,
  }
}

/** POST /v1/contact: mails a message to the operator of this instance before the request completes. */
import { ServiceError } from '@dock/contract'
import { type Clock, newUuid } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { type Instance, type MailTransport, recordContactMail, renderMail } from '../../mail/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'

export type ContactContext = {
  db: Db
  clock: Clock
  transport: MailTransport
  rateLimits: RateLimits
  instance: Instance
  /** Mail address of the operator. */
  recipient: string
}

export type ContactMessage = {
  name: string
  email: string
  company?: string | undefined
  topic: string
  message: string
}

/** How long the request waits for the mail server, in milliseconds. */
const sendMs = 30_000

/** Throws `rate_limited` per client address, and `mail_unavailable` if the mail could not be sent. */
export async function sendContact(
  context: ContactContext,
  message: ContactMessage,
  clientAddress: string,
): Promise<{ sent: true }> {
  await context.rateLimits.take('contactMessages', clientAddress)
  const { name, email, company, topic } = message
  const from = `${name} <${email}>${company === undefined ? '' : `, ${company}`}`
  const mail = { id: newUuid(), recipient: context.recipient, subject: `Contact: ${topic}` }
  await recordContactMail(context.db, mail, context.clock.now())
  try {
    await context.transport.send(
      {
        ...mail,
        ...renderMail(
          {
            subject: mail.subject,
            body: `From ${from}\n\n${message.message}`,
            link: `mailto:${encodeURIComponent(email).replace('%40', '@')}`,
            link_label: `Reply to ${name}`,
            organization_name: null,
            gathered: null,
          },
          context.instance,
        ),
        replyTo: email,
      },
      AbortSignal.timeout(sendMs),
    )
  } catch (error) {
    throw new ServiceError('mail_unavailable', { cause: error })
  }
  return { sent: true }
}

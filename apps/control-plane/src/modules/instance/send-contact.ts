/** POST /v1/contact: a message to the people who run this instance, sent while its writer waits. */
import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { MailTransport } from '../../mail/mail-transport.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'

export type ContactContext = {
  transport: MailTransport
  rateLimits: RateLimits
  /** Who reads it. */
  recipient: string
}

export type ContactMessage = {
  name: string
  email: string
  company?: string | undefined
  topic: string
  message: string
}

/** Throws `rate_limited` by client address, and `mail_unavailable` when it did not get away. */
export const sendContact = async (
  context: ContactContext,
  message: ContactMessage,
  clientAddress: string,
): Promise<{ sent: true }> => {
  await context.rateLimits.take('contactMessages', clientAddress)
  const { name, email, company, topic } = message
  const from = `${name} <${email}>${company === undefined ? '' : `, ${company}`}`
  try {
    await context.transport.send({
      id: newUuid(),
      recipient: context.recipient,
      subject: `Contact: ${topic}`,
      body: `${from}\n\n${message.message}\n`,
      replyTo: email,
    })
  } catch (error) {
    throw new ServiceError('mail_unavailable', { cause: error })
  }
  return { sent: true }
}

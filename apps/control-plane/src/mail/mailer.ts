/**
 * Sends due mails of the outbox. A mail is sent again, with the same Message-ID, if the process dies between the mail
 * server's acceptance and its record.
 */
import type { AlertType } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import { createDeliveryEngine, type DeliveryEngine } from '../engine/index.ts'
import { type ClaimedMail, claimMails, laneKey, type MailLimits } from './claim-mails.ts'
import type { UnsubscribeLink } from './mail.ts'
import type { MailTransport } from './mail-transport.ts'
import { recordOutcome } from './outbox-store.ts'
import { decideFailure, type MailOutcome } from './outcome.ts'
import { type Instance, renderMail } from './render-mail.ts'

export type MailerOptions = {
  db: Db
  clock: Clock
  logger: Logger
  transport: MailTransport
  instance: Instance
  /** Returns the link that turns off mails about alerts of a type. */
  unsubscribeLink(userId: string, type: AlertType): UnsubscribeLink
}

/** How long an attempt may take. Shorter than the lease of a claimed mail. */
const attemptMs = 90_000
/** How long a stop waits for mails in flight before it breaks them off, in milliseconds. They are sent again later. */
const stopGraceMs = 4_000

/** Leaves connections that only account mails may use. */
const limitsOf = (inFlightMax: number): MailLimits => ({
  account: { perLane: 4, total: inFlightMax },
  alert: { perLane: 3, total: Math.max(1, Math.floor(inFlightMax * 0.6)) },
})

export function createMailer(options: MailerOptions): DeliveryEngine {
  const { db, clock, logger, transport } = options
  // One connection is left for the contact form, which does not wait in the outbox.
  const inFlightMax = Math.max(1, transport.connections - 1)
  const limits = limitsOf(inFlightMax)
  const ending = new AbortController()

  const attempt = async (mail: ClaimedMail): Promise<MailOutcome> => {
    try {
      const unsubscribe =
        mail.user_id !== null && mail.alert_type !== null
          ? options.unsubscribeLink(mail.user_id, mail.alert_type)
          : null
      await transport.send(
        { id: mail.id, recipient: mail.recipient, ...renderMail(mail, options.instance, unsubscribe) },
        AbortSignal.any([ending.signal, AbortSignal.timeout(attemptMs)]),
      )
      return { kind: 'sent' }
    } catch (error) {
      return decideFailure(error, mail.attempts, clock.now())
    }
  }

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    const outcome = await attempt(mail)
    await recordOutcome(db, mail, outcome, clock.now())
    if (outcome.kind === 'sent') return
    // The mail server's words may name the recipient. They are stored in the row, which is erased with the person.
    const known = { mailId: mail.id, kind: mail.kind, replyCode: outcome.replyCode, attempts: mail.attempts }
    if (outcome.kind === 'retry') logger.warn(known, 'could not send a mail; it is sent again later')
    else if (outcome.kind === 'refused') logger.warn(known, 'the mail server refused a mail for good')
    else logger.error(known, 'could not send a mail; it is given up')
  }

  const engine = createDeliveryEngine<ClaimedMail>({
    name: 'mails',
    clock,
    logger,
    inFlightMax,
    laneOf: laneKey,
    claim: (request) => claimMails(db, request, limits, clock.now()),
    deliver,
  })
  return {
    ...engine,
    stop: async () => {
      const cancel = clock.after(stopGraceMs, () => ending.abort())
      await engine.stop()
      cancel()
      transport.close()
    },
  }
}

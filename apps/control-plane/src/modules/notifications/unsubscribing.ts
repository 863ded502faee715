/**
 * The links with which people turn off the mails about a type of alert, without signing in (RFC 8058). A link is signed,
 * and can do nothing else. It works for as long as the account exists, because mails are kept for years.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type AlertType, alertTypes } from '@dock/contract'
import { isUuid } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { cancelAlertMails, type UnsubscribeLink } from '../../mail/index.ts'
import { alertOccasion } from './alert.ts'
import { turnOffAlertMails } from './preferences.ts'

/** Path of the pages, without the token. */
const path = '/mail/unsubscribe'

export type Unsubscribing = {
  linkOf(userId: string, type: AlertType): UnsubscribeLink
  /** Returns the occasion of the mails that the link turns off, or null if the link is not valid. */
  occasionOf(token: string): string | null
  /** Turns the mails off and cancels those that wait. Idempotent. Returns as {@link Unsubscribing.occasionOf}. */
  unsubscribe(token: string): Promise<string | null>
}

export function createUnsubscribing(options: { db: Db; apiUrl: string; secret: string }): Unsubscribing {
  const { db, apiUrl } = options
  const key = Buffer.from(hkdfSync('sha256', options.secret, '', 'dock unsubscribe link', 32))
  /** 128 bits. Short enough for a header line. */
  const sign = (userId: string, type: AlertType): Buffer =>
    createHmac('sha256', key).update(`${userId} ${type}`).digest().subarray(0, 16)

  const read = (token: string): { userId: string; type: AlertType } | null => {
    const [userId = '', name = '', signature = '', ...more] = token.split('.')
    const type = alertTypes.find((each) => each === name)
    if (!isUuid(userId) || type === undefined || more.length > 0) return null
    const given = Buffer.from(signature, 'base64url')
    const expected = sign(userId, type)
    return given.length === expected.length && timingSafeEqual(given, expected) ? { userId, type } : null
  }

  return {
    linkOf: (userId, type) => ({
      url: `${apiUrl}${path}/${userId}.${type}.${sign(userId, type).toString('base64url')}`,
      when: alertOccasion[type],
    }),
    occasionOf: (token) => {
      const known = read(token)
      return known && alertOccasion[known.type]
    },
    unsubscribe: async (token) => {
      const known = read(token)
      if (!known) return null
      const { userId, type } = known
      await withTransaction(db, async (tx) => {
        await turnOffAlertMails(tx, userId, type)
        await cancelAlertMails(tx, userId, { type })
      })
      return alertOccasion[type]
    },
  }
}

/** Cursors of lists ordered by time and id: the position after a page, as an opaque text. */
import { ServiceError } from '@dock/contract'
import { isUuid } from '@dock/foundation'

export type PagePlace = { at: Date; id: string }

export function encodePageCursor({ at, id }: PagePlace): string {
  return Buffer.from(`${at.toISOString()} ${id}`).toString('base64url')
}

/** PostgreSQL accepts every date of this form. A `Date` may be earlier or later than any of its timestamps. */
const timeForm = /^\d{4}-/

/** Throws `validation_error` if the text is not a cursor made by {@link encodePageCursor}. */
export function decodePageCursor(cursor: string): PagePlace {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  const at = new Date(time)
  const isOurs = !Number.isNaN(at.getTime()) && isUuid(id) && encodePageCursor({ at, id }) === cursor
  if (!isOurs || !timeForm.test(time))
    throw new ServiceError('validation_error', {
      message: 'cursor: must be a nextCursor that this list returned',
    })
  return { at, id }
}

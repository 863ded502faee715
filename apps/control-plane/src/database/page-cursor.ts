/** Where a page of a list that is ordered by time and id ended, as the opaque text that callers hand back. */
import { ServiceError } from '@dock/contract'
import { isUuid } from '@dock/foundation'

export type PagePlace = { at: Date; id: string }

export function encodePageCursor({ at, id }: PagePlace): string {
  return Buffer.from(`${at.toISOString()} ${id}`).toString('base64url')
}

/** Throws `validation_error` for a text that is none of ours. */
export function decodePageCursor(cursor: string): PagePlace {
  const [time = '', id = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ')
  const at = new Date(time)
  if (Number.isNaN(at.getTime()) || !isUuid(id))
    throw new ServiceError('validation_error', { message: 'cursor: is not one that this list gave.' })
  return { at, id }
}

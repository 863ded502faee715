import { newUuid } from '@dock/foundation'
import { expect, it } from 'vitest'
import { decodePageCursor, encodePageCursor } from './page-cursor.ts'

const id = newUuid()
const encode = (text: string) => Buffer.from(text).toString('base64url')

it('decodes what it has encoded', () => {
  for (const at of [new Date('2026-11-29T01:02:03.004Z'), new Date('0000-01-01T00:00:00.000Z')])
    expect(decodePageCursor(encodePageCursor({ at, id }))).toEqual({ at, id })
})

it.each([
  ['a date before those of PostgreSQL', encode(`-100000-01-01T00:00:00.000Z ${id}`)],
  ['a date after the year 9999', encode(`+275760-09-13T00:00:00.000Z ${id}`)],
  ['a date of another form', encode(`2026 ${id}`)],
  ['more after the id', encode(`2026-01-01T00:00:00.000Z ${id} x`)],
  ['an id of another form', encode('2026-01-01T00:00:00.000Z x')],
  ['other characters in between', `${encodePageCursor({ at: new Date(0), id })}!`],
  ['nothing', ''],
])('refuses a cursor with %s', (_, cursor) => {
  expect(() => decodePageCursor(cursor)).toThrow(expect.objectContaining({ code: 'validation_error' }))
})

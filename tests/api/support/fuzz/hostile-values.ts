/**
 * Values that a decoder of JavaScript accepts and PostgreSQL does not: dates and numbers out of its range, characters it
 * cannot store, and cursors that decode to such values.
 */
const uuid = '00000000-0000-4000-8000-000000000000'
const encode = (text: string): string => Buffer.from(text).toString('base64url')

/** Cursors that decode, with contents that no list has returned. */
export const hostileCursors: readonly string[] = [
  ...['-100000-01-01T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '-004713-01-01T00:00:00.000Z'],
  ...['0000-01-01T00:00:00.000Z', '0', 'infinity', '2026', '2026-01-01T00:00:00.000Z\0'],
]
  .map((time) => encode(`${time} ${uuid}`))
  .concat(
    encode(`2026-01-01T00:00:00.000Z ${uuid}\0`),
    encode(`2026-01-01T00:00:00.000Z ${uuid} 1`),
    encode('a\0b'),
    Buffer.from([0xff, 0xfe, 0x20]).toString('base64url'),
    // Other lists have names, numbers and texts as cursors.
    ...['00', 'ff', 'edb080', '9223372036854775808', '2147483648', '-1', `${'9'.repeat(20)}-0`],
  )

export const hostileTexts: readonly string[] = [
  ...['a\0b', '\ud800', 'a\udc80b', '\\u0000', '{"a":"\\ud800"}'],
  ...['9223372036854775808', '2147483648', '9007199254740991', '1e3', '-1'],
  ...['infinity', '-100000-01-01T00:00:00.000Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z'],
  ...[uuid, 'x'.repeat(5000)],
]

export const hostileNumbers: readonly number[] = [
  ...[2 ** 31, 2 ** 53 - 1, -(2 ** 31) - 1, -(2 ** 53) + 1, 1e308, 0.1],
]

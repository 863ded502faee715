import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUuid, newOperationId, newUuid, toBase62 } from './ids.ts'

describe('ids', () => {
  it('creates operation ids of op_ and 20 characters', () => {
    expect(newOperationId()).toMatch(/^op_[a-z2-7]{20}$/)
  })

  it('recognizes a uuid', () => {
    expect(isUuid(newUuid())).toBe(true)
    for (const text of ['', 'op_abc', `${newUuid()}0`, newUuid().replace('-', '')])
      expect(isUuid(text)).toBe(false)
  })

  it('encodes equal lengths in base62 with equal widths, and different bytes differently', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(toBase62(a)).toMatch(/^[0-9A-Za-z]{43}$/)
        expect(toBase62(a) === toBase62(b)).toBe(Buffer.from(a).equals(Buffer.from(b)))
      }),
    )
  })
})

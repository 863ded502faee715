import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeOutput, withLastLine } from './decode-output.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const nothing = new Uint8Array()
const decode = (stdout: Uint8Array, limit: number, truncated = false) =>
  decodeOutput({ stdout, stderr: nothing, truncated }, limit)

it('cuts before a character that does not fit, and replaces an invalid one', () => {
  expect(decode(bytes('aé€').subarray(0, 5), 5, true).stdout).toBe('aé')
  expect(decode(bytes('aé€').subarray(0, 5), 100).stdout).toBe('aé\ufffd')
  expect(decode(bytes('\ufeffx'), 100).stdout).toBe('\ufeffx')
})

it('clips a text that its replacements made longer than the limit', () => {
  const binary = new Uint8Array(10).fill(0xff)
  expect(decode(binary, 10)).toEqual({ stdout: '\ufffd'.repeat(3), stderr: '', truncated: true })
  expect(decode(binary, 30)).toMatchObject({ stdout: '\ufffd'.repeat(10), truncated: false })
})

it('treats each stream separately: a stream below the limit does not count as cut', () => {
  const cut = bytes('ééé').subarray(0, 5)
  expect(decodeOutput({ stdout: cut, stderr: cut.subarray(0, 3), truncated: true }, 5)).toEqual({
    stdout: 'éé',
    stderr: 'é\ufffd',
    truncated: true,
  })
})

it('returns the beginning of the text, with at most as many bytes as the limit, for any input', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 50 })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (all, limit) => {
      const { stdout } = decode(all.subarray(0, limit), limit, all.length > limit)
      expect(bytes(stdout).length).toBeLessThanOrEqual(limit)
    }),
  )
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, limit) => {
      const all = bytes(text.toWellFormed())
      const { stdout, truncated } = decode(all.subarray(0, limit), limit, all.length > limit)
      expect(text.toWellFormed().startsWith(stdout)).toBe(true)
      expect(truncated).toBe(all.length > limit)
      if (!truncated) expect(stdout).toBe(text.toWellFormed())
    }),
  )
})

it('appends the line within the limit', () => {
  expect(withLastLine('', 'why', 20)).toBe('why\n')
  expect(withLastLine('said', 'why', 20)).toBe('said\nwhy\n')
  expect(withLastLine('x'.repeat(100), 'why', 20)).toBe(`${'x'.repeat(15)}\nwhy\n`)
})

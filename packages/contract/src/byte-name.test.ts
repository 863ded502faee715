import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOfName, encodeNameForUrl, isByteName, nameOfBytes } from './byte-name.ts'

it('gives every name of bytes a text that leads back to it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = nameOfBytes(bytes)
      expect(bytesOfName(text)).toEqual(bytes)
      expect(bytesOfName(JSON.parse(JSON.stringify(text)) as string)).toEqual(bytes)
      expect(isByteName(text)).toBe(true)
    }),
  )
})

it('leaves Unicode as it is, and writes other bytes as Python does', () => {
  expect(nameOfBytes(Buffer.from('é\n𝄞\ufeffx'))).toBe('é\n𝄞\ufeffx')
  expect(nameOfBytes(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]))).toBe(
    'a\udcff\udcc3(\udced\udca0\udc80',
  )
  expect(encodeNameForUrl('a b\udcff/é')).toBe('a%20b%FF%2F%C3%A9')
})

it('refuses lone surrogates that stand for no byte', () => {
  for (const text of ['\ud800', '\udc7f', '\udd00', 'x\udfff']) expect(isByteName(text)).toBe(false)
  for (const text of ['\udc80', '𝄞', '', 'a\udcff']) expect(isByteName(text)).toBe(true)
})

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { clipEnd, clipMiddle, fitBytes, readSome } from './clip.ts'
import { quoted, visibleText } from './visible-text.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

it('never returns more than the limit, nor half a character', () => {
  const isWhole = (text: string): boolean => text.isWellFormed()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 60, max: 100 }), (part, max) => {
      const text = part.repeat(5)
      for (const clipped of [clipMiddle(text, max), clipEnd(text, max)]) {
        expect(clipped.length).toBeLessThanOrEqual(max)
        expect(isWhole(clipped)).toBe(true)
      }
    }),
  )
  expect(clipMiddle('short', 100)).toBe('short')
  const long = clipMiddle(`start${'x'.repeat(1000)}end`, 200)
  expect(long.startsWith('start') && long.endsWith('end') && long.includes('left out')).toBe(true)
})

it('reads text in parts that join to the whole, whatever the limit', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.integer({ min: 12, max: 40 }),
      (text, max) => {
        const bytes = bytesOf(text)
        let [at, all] = [0, '']
        while (at < bytes.length) {
          const { text: part, used } = fitBytes(bytes.subarray(at), max, true)
          expect(part.length).toBeLessThanOrEqual(max)
          expect(used).toBeGreaterThan(0)
          all += part
          at += used
        }
        expect(all.replaceAll('\n', '')).toBe(visibleText(text).replaceAll('\n', ''))
      },
    ),
  )
})

it('leaves an incomplete character for the next part, and goes on behind bytes that are no text', () => {
  const bytes = bytesOf('aé')
  expect(fitBytes(bytes.subarray(0, 2), 100, false)).toEqual({ text: 'a', used: 1 })
  expect(fitBytes(bytes.subarray(0, 2), 100, true)).toEqual({ text: 'a\ufffd', used: 2 })
  expect(fitBytes(new Uint8Array([0x80, 0x80, 0x80, 0x80]), 100, false).used).toBeGreaterThan(0)
  expect(fitBytes(new Uint8Array([0xc3]), 100, false).used).toBe(1)
})

it('reads a part of a response and ends it', async () => {
  let cancelled = false
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(bytesOf('0123456789')),
        cancel: () => {
          cancelled = true
        },
      }),
    )
  const { bytes, isEnd } = await readSome(endless(), 12, 15)
  expect([new TextDecoder().decode(bytes), isEnd, cancelled]).toEqual(['567890123456', false, true])
  expect(await readSome(new Response('abc'), 10, 1)).toEqual({ bytes: bytesOf('bc'), isEnd: true })
})

it('shows what is invisible, and removes colours', () => {
  expect(visibleText('a\u202eb\u200bc\u0007\u{e0041}\r\n\tü👩‍🚀')).toBe(
    'a\\u{202e}b\\u{200b}c\\u{7}\\u{e0041}\n\tü👩‍🚀',
  )
  expect(visibleText('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007')).toBe('red \\u{1b}]0;title\\u{7}')
  expect(quoted('a"\nb')).toBe('"a\\"\\nb"')
})

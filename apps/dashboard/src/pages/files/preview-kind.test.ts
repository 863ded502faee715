import { expect, it } from 'vitest'
import { previewKindOf } from './preview-kind.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (each) => each.charCodeAt(0))

it('knows images by their bytes', () => {
  expect(previewKindOf(bytes('\x89PNG\r\n\x1a\nrest'), true)).toEqual({ kind: 'image', type: 'image/png' })
  expect(previewKindOf(bytes('RIFF1234WEBP'), true)).toEqual({ kind: 'image', type: 'image/webp' })
})

it('shows SVG and HTML as text', () => {
  for (const source of ['<svg onload="alert(1)"/>', '<script>alert(1)</script>'])
    expect(previewKindOf(bytes(source), true)).toEqual({ kind: 'text', text: source })
})

it('takes a character that the end of a part cuts for text, but not at the end of a file', () => {
  const cut = bytes('a\xc3')
  expect(previewKindOf(cut, false)).toEqual({ kind: 'text', text: 'a' })
  expect(previewKindOf(cut, true)).toEqual({ kind: 'binary' })
  expect(previewKindOf(bytes('a\0b'), true)).toEqual({ kind: 'binary' })
})

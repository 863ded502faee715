import { expect, it } from 'vitest'
import { editableText, editedBytesMax, textToSave } from './editable-text.ts'

const file = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  return { bytes, size: bytes.length }
}

it.each(['a\nb\n', 'a\r\nb\r\n', '', '\ufeffa', 'no end'])('%j comes back byte for byte', (text) => {
  const editable = editableText(file(text))!
  expect(editable.text).not.toContain('\r')
  expect(textToSave(editable.text, editable.lineEnd)).toBe(text)
})

it('refuses what would come back changed', () => {
  expect(editableText(file('a\r\nb\n'))).toBeUndefined()
  expect(editableText(file('a\rb'))).toBeUndefined()
  expect(editableText(file('a\0b'))).toBeUndefined()
  expect(editableText({ ...file('part'), size: 100 })).toBeUndefined()
  expect(editableText(file('x'.repeat(editedBytesMax + 1)))).toBeUndefined()
})

import type { PreviewedFile } from '../../files/file-preview.tsx'
import { previewKindOf } from '../../files/preview-kind.ts'

/** A longer text is not edited here. */
export const editedBytesMax = 512 * 1024

export type EditableText = { text: string; lineEnd: '\n' | '\r\n' }

/**
 * Returns the text if a text area gives it back byte for byte: it is whole, short enough, and all its lines end alike.
 * Text areas turn every end of a line into a line feed.
 */
export function editableText({ bytes, size }: PreviewedFile): EditableText | undefined {
  if (size > editedBytesMax || bytes.length < size) return undefined
  const shown = previewKindOf(bytes, true)
  if (shown.kind !== 'text') return undefined
  const isDos = shown.text.includes('\r')
  const text = isDos ? shown.text.replaceAll('\r\n', '\n') : shown.text
  const lineEnd = isDos ? '\r\n' : '\n'
  const comesBack = !text.includes('\r') && (!isDos || text.replaceAll('\n', '\r\n') === shown.text)
  return comesBack ? { text, lineEnd } : undefined
}

/** Returns the text with the ends of lines that it had. */
export function textToSave(text: string, lineEnd: EditableText['lineEnd']): string {
  return lineEnd === '\n' ? text : text.replaceAll('\n', lineEnd)
}

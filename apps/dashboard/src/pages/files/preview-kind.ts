/** Decides from its bytes how a file is shown. The name does not matter: it may lie. */

/** A preview reads at most these bytes of a text. */
export const textBytesMax = 1024 * 1024
/** A larger image is not shown. */
export const imageBytesMax = 16 * 1024 * 1024

export type PreviewKind =
  | { kind: 'image'; type: string }
  | { kind: 'text'; text: string }
  | { kind: 'binary' }

const startsWith = (bytes: Uint8Array, text: string, at = 0): boolean =>
  [...text].every((character, index) => bytes[at + index] === character.charCodeAt(0))

/** Images that run no script. SVG is text, and shown as such. */
const imageTypeOf = (bytes: Uint8Array): string | undefined => {
  if (startsWith(bytes, '\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (startsWith(bytes, '\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'image/gif'
  if (startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8)) return 'image/webp'
  if (startsWith(bytes, 'ftypavif', 4)) return 'image/avif'
  return undefined
}

/** `isWhole`: the bytes are the whole file, so a character that is cut at its end is an error. */
export function previewKindOf(bytes: Uint8Array, isWhole: boolean): PreviewKind {
  const type = imageTypeOf(bytes)
  if (type !== undefined) return { kind: 'image', type }
  if (bytes.includes(0)) return { kind: 'binary' }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { kind: 'text', text: decoder.decode(bytes, { stream: !isWhole }) }
  } catch {
    return { kind: 'binary' }
  }
}

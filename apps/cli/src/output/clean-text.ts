/** Text from Docks, colleagues and the service is shown only after it went through here. */

/** Control characters, lone surrogates, line separators, and marks that change the direction of text. */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns one line without anything that a terminal obeys. */
export function cleanText(text: string): string {
  return text.replace(unsafe, (character) => {
    if (character === '\n' || character === '\t') return ' '
    const code = character.codePointAt(0) ?? 0
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same for text of several lines. */
export function cleanLines(text: string): string {
  return text.split('\n').map(cleanText).join('\n')
}

/** Returns JSON in which nothing is left that a terminal obeys. It means the same. */
export function cleanJson(value: unknown, indent?: number): string {
  // JSON escapes only the control characters below U+0020 and lone surrogates.
  return JSON.stringify(value, null, indent).replace(unsafe, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

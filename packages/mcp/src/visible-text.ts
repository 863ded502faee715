/** Makes text from a Dock safe to show to a model and to the person who watches it. */

const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')
/** Controls, marks of direction, and characters that are not drawn, in which text can hide from people. */
const invisible = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu
/** Newline, tab, and the two that emoji are made with. */
const kept = new Set(['\n', '\t', '\u200d', '\ufe0f'])

/** Returns the text with its invisible characters written as `\u{…}`. Colours of terminals are removed. */
export function visibleText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(colours, '')
    .replace(invisible, (character) =>
      kept.has(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
    )
}

/** Returns a name or path as one word, in quotes. */
export function quoted(text: string): string {
  return visibleText(JSON.stringify(text))
}

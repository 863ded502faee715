/** Shows text from a Dock as what it is: nothing in it is invisible, moves the cursor, or turns the direction. */

/** Controls, marks of direction, characters that are not drawn, and halves of pairs. */
const hidden = /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu
/** Emoji are made with these two. */
const keptInText = new Set(['\n', '\t', '\u200d', '\ufe0f'])

const written = (character: string): string => {
  const code = character.codePointAt(0)!
  // The picture of the control character.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`
  return `\\u{${code.toString(16)}}`
}

/** Returns a name in one line. */
export function visibleName(name: string): string {
  return name.replace(hidden, (each) => (each === '\u200d' || each === '\ufe0f' ? each : written(each)))
}

const lineLengthMax = 2_000

/** Returns text of several lines. Longer lines are cut, because a browser cannot lay out a line of a megabyte in time. */
export function visibleLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => {
      const shown = line
        .slice(0, lineLengthMax)
        .replace(hidden, (each) => (keptInText.has(each) ? each : written(each)))
      return line.length <= lineLengthMax
        ? shown
        : `${shown} … (${line.length - lineLengthMax} more characters)`
    })
    .join('\n')
}

/** Tables that fit the width of the terminal. */
import { cleanText } from './clean-text.ts'

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** Returns the number of cells that a character takes. */
const cellsOf = (character: string): number => {
  if (/\p{Mn}|\u200b|\u200d|\ufe0f/u.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Returns the number of cells that a clean text takes on a terminal. */
export function widthOf(text: string): number {
  // Nearly all text is ASCII.
  if (/^[ -~]*$/.test(text)) return text.length
  let sum = 0
  for (const character of text) sum += cellsOf(character)
  return sum
}

/** Returns the text shortened to so many cells, with `…` at its end. */
export function shortened(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const character of text) {
    const cells = cellsOf(character)
    if (used + cells > width - 1) break
    kept += character
    used += cells
  }
  return width < 1 ? '' : `${kept}…`
}

const gap = '  '
const leastWidth = 6

/** Narrows the widest columns until the row fits. */
const fitted = (natural: readonly number[], width: number): number[] => {
  const widths = [...natural]
  const total = (): number => widths.reduce((sum, each) => sum + each, 0) + gap.length * (widths.length - 1)
  while (total() > width) {
    const most = Math.max(...widths)
    if (most <= leastWidth) break
    widths[widths.indexOf(most)] = most - 1
  }
  return widths
}

export type Paint = (text: string, column: number, row: number) => string

/**
 * Returns the lines of a table. `paint` colours a finished cell; row -1 is the headings. Without `width` nothing is
 * shortened.
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY, paint = (text) => text }: { width?: number; paint?: Paint } = {},
): string[] {
  const clean = rows.map((row) => row.map(cleanText))
  const all = [headings, ...clean]
  const natural = headings.map((_, column) =>
    // Not Math.max of all: a Snapshot may have more files than a function takes arguments.
    all.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0),
  )
  const widths = fitted(natural, width)
  return all.map((row, at) =>
    row
      .map((cell, column) => {
        const text = shortened(cell, widths[column]!)
        const isLast = column === row.length - 1
        const padding = isLast ? '' : ' '.repeat(Math.max(0, widths[column]! - widthOf(text)))
        return paint(text, column, at - 1) + padding
      })
      .join(gap)
      .trimEnd(),
  )
}

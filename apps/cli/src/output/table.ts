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
const leastWidth = 12
/** Space that one long name takes from the other rows. An id fits. */
const neededWidth = 36

export type Fit = {
  /** Columns that are needed for the next command: never left out, never shortened. Default: the first. */
  needed?: readonly number[]
  /** Columns of free text: shortened before another column is left out. */
  text?: readonly number[]
}

/**
 * Returns the columns that are shown, with their widths. On a terminal that is too narrow, text is shortened, and then
 * columns are left out from the right. What is needed stays whole: a line that is still too long is wrapped.
 */
const fitted = (
  whole: readonly number[],
  width: number,
  { needed = [0], text = [] }: Fit,
): { column: number; cells: number }[] => {
  const natural = whole.map((cells, column) =>
    needed.includes(column) && cells > neededWidth
      ? Math.min(cells, Math.max(neededWidth, Math.floor(width / 2)))
      : cells,
  )
  const least = natural.map((cells, column) => (text.includes(column) ? Math.min(cells, leastWidth) : cells))
  const total = (columns: readonly number[], widths: readonly number[]): number =>
    columns.reduce((sum, column) => sum + widths[column]!, 0) + gap.length * (columns.length - 1)
  let columns = natural.map((_, column) => column)
  while (total(columns, least) > width) {
    const last = columns.findLast((column) => !needed.includes(column) && !text.includes(column))
    const dropped = last ?? columns.findLast((column) => !needed.includes(column))
    if (dropped === undefined) break
    columns = columns.filter((column) => column !== dropped)
  }
  const widths = [...natural]
  for (;;) {
    const widest = columns
      .filter((column) => text.includes(column) && widths[column]! > least[column]!)
      .reduce((most, column) => (most < 0 || widths[column]! > widths[most]! ? column : most), -1)
    if (widest < 0 || total(columns, widths) <= width) break
    widths[widest] = widths[widest]! - 1
  }
  return columns.map((column) => ({ column, cells: widths[column]! }))
}

export type Paint = (text: string, column: number, row: number) => string

/**
 * Returns the lines of a table. `paint` colours a finished cell; row -1 is the headings. Without `width` nothing is
 * shortened or left out.
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  {
    width = Number.POSITIVE_INFINITY,
    paint = (text) => text,
    ...fit
  }: { width?: number; paint?: Paint } & Fit = {},
): string[] {
  const clean = rows.map((row) => row.map(cleanText))
  const all = [headings, ...clean]
  const natural = headings.map((_, column) =>
    // Not Math.max of all: a Snapshot may have more files than a function takes arguments.
    all.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), 0),
  )
  const shown = fitted(natural, width, fit)
  return all.map((row, at) =>
    shown
      .map(({ column, cells }, place) => {
        const cell = row[column] ?? ''
        const text = (fit.needed ?? [0]).includes(column) ? cell : shortened(cell, cells)
        const padding = place === shown.length - 1 ? '' : ' '.repeat(Math.max(0, cells - widthOf(text)))
        return paint(text, column, at - 1) + padding
      })
      .join(gap)
      .trimEnd(),
  )
}

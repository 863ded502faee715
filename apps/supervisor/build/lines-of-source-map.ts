/**
 * Reduces a source map to what a stack trace needs: file and line. A process keeps its map in memory, and the whole map of
 * the control plane takes 10 MiB.
 */

/** The fields of a source map of version 3 that Node reads. */
export type SourceMapText = { version: number; sources: string[]; names: string[]; mappings: string }

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digitValues = new Map([...digits].map((digit, value) => [digit, value]))
/** A digit holds five bits of a number, lowest first, and says whether more follow. The lowest bit of all is the sign. */
const [bits, more] = [5, 32]

const decode = (segment: string): number[] => {
  const numbers: number[] = []
  let [number, shift] = [0, 0]
  for (const digit of segment) {
    const value = digitValues.get(digit) ?? 0
    number += (value & (more - 1)) << shift
    shift += bits
    if (value >= more) continue
    numbers.push(number & 1 ? -(number >> 1) : number >> 1)
    number = 0
    shift = 0
  }
  return numbers
}

const encode = (numbers: readonly number[]): string => {
  let text = ''
  for (const number of numbers) {
    let rest = number < 0 ? (-number << 1) | 1 : number << 1
    for (; rest >= more; rest >>= bits) text += digits[(rest & (more - 1)) | more]
    text += digits[rest]
  }
  return text
}

/** Returns the map with one segment for each run of code from the same line of a source. It keeps no names and columns. */
export function linesOf({ version, sources, mappings }: SourceMapText): SourceMapText {
  let [source, line] = [0, 0]
  const written = { source: 0, line: 0 }
  const kept = mappings.split(';').map((generated) => {
    let [column, writtenColumn] = [0, 0]
    let last = ''
    const segments: string[] = []
    for (const segment of generated === '' ? [] : generated.split(',')) {
      const [byColumn = 0, bySource, byLine = 0] = decode(segment)
      column += byColumn
      // Code that comes from no source has a column only.
      if (bySource === undefined) continue
      source += bySource
      line += byLine
      if (last === `${source}:${line}`) continue
      last = `${source}:${line}`
      segments.push(encode([column - writtenColumn, source - written.source, line - written.line, 0]))
      writtenColumn = column
      Object.assign(written, { source, line })
    }
    return segments.join(',')
  })
  return { version, sources, names: [], mappings: kept.join(';') }
}

import { clipEnd } from '../clip.ts'

/**
 * Returns as many lines as fit into `max` characters, and their number. A first line that is longer is clipped: somebody who
 * chose a long path must not hide those behind it.
 */
export function pageOfLines(lines: readonly string[], max: number): { text: string; count: number } {
  let [length, count] = [0, 0]
  for (const line of lines) {
    if (count > 0 && length + line.length + 1 > max) break
    length += line.length + 1
    count += 1
  }
  return { text: clipEnd(lines.slice(0, count).join('\n'), max), count }
}

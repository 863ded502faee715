/** Returns as many lines as fit into `max` characters, and their number. */
export function pageOfLines(lines: readonly string[], max: number): { text: string; count: number } {
  let [length, count] = [0, 0]
  for (const line of lines) {
    if (length + line.length + 1 > max) break
    length += line.length + 1
    count += 1
  }
  return { text: lines.slice(0, count).join('\n'), count }
}

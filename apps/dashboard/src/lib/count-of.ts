/** Returns a number with its word: `1 file`, `3 files`. */
export function countOf(count: number, word: string, words = `${word}s`): string {
  return `${count} ${count === 1 ? word : words}`
}

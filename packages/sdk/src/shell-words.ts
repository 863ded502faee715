/** Returns a line of shell that stands for exactly these words. */
export function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}

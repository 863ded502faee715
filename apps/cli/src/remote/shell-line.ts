/** Returns the command line for these words. One word is a line of shell, several are words that no shell changes. */
export function shellLine(words: readonly string[]): string {
  if (words.length === 1) return words[0]!
  return words
    .map((word) => (/^[\w@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}

/** Commands as a shell reads them. */

/** Returns the word so that a shell takes it as it is. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Returns the command line for these words. One word is a line of shell, several are words that no shell changes. */
export function shellLine(words: readonly string[]): string {
  return words.length === 1 ? words[0]! : words.map(shellWord).join(' ')
}

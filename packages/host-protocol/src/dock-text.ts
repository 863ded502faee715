/** Text that programs in Docks wrote, as it enters: for people to read and for the database to keep. */
import * as z from 'zod'

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences that steer a terminal are what it looks for.
const terminalSequence = /\u001b\[[0-9;:?]*[ -/]*[@-~]/g
/** Control characters but tab and line ends, and marks that turn the direction of what follows. */
const unshowable = /[^\P{Cc}\t\n\r]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * The text without what a terminal would obey. Whatever else cannot be shown becomes U+FFFD: NUL, which PostgreSQL
 * refuses, halves of surrogate pairs, other control characters, marks of direction.
 */
export function showable(text: string): string {
  return text.replace(terminalSequence, '').toWellFormed().replace(unshowable, '\ufffd')
}

/** A field of text from a Dock, cut to `max` characters: a host may be hostile too. */
export function dockText(max: number) {
  return z.string().transform((text) => showable(text.slice(0, max)))
}

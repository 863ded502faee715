/** Sanitizes text written by programs in Docks, before people read it and the database stores it. */
import * as z from 'zod'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches terminal escape sequences.
const terminalSequence = /\u001b\[[0-9;:?]*[ -/]*[@-~]/g
/** Control characters except tab and line ends, and bidirectional marks. */
const unshowable = /[^\P{Cc}\t\n\r]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Removes terminal escape sequences. Replaces everything else that cannot be displayed with U+FFFD: NUL (which
 * PostgreSQL refuses), lone surrogates, other control characters and bidirectional marks.
 */
export function showable(text: string): string {
  return text.replace(terminalSequence, '').toWellFormed().replace(unshowable, '\ufffd')
}

/** A text field from a Dock, truncated to `max` characters because the host itself may be hostile. */
export function dockText(max: number) {
  return z.string().transform((text) => showable(text.slice(0, max)))
}

/** Decides what follows an attempt to send a mail: it is sent, repeated, refused for good, or given up. */
import { retryPauseMs } from '../engine/index.ts'

export type MailOutcome =
  | { kind: 'sent' }
  | { kind: 'retry'; at: Date; replyCode: number | null; error: string }
  | { kind: 'refused' | 'failed'; replyCode: number | null; error: string }

/** The 25th attempt is made about 18 hours after the first. */
export const attemptsMax = 25
const pauses = { firstMs: 30_000, longestMs: 3_600_000 }

const read = (error: unknown, key: 'responseCode' | 'command'): unknown =>
  error instanceof Error ? Reflect.get(error, key) : undefined

/** Returns the reply code of the mail server, or null if the error is not a reply. */
export function replyCodeOf(error: unknown): number | null {
  const code = read(error, 'responseCode')
  return typeof code === 'number' ? code : null
}

/**
 * True if the mail server refused this recipient or this content with a 5xx. A 5xx at any other place (the greeting, a
 * wrong password, the sender) is about the instance's settings: the mail is sent once the operator has corrected them.
 */
export function isPermanentRefusal(error: unknown): boolean {
  const code = replyCodeOf(error)
  const command = read(error, 'command')
  return code !== null && code >= 500 && (command === 'RCPT TO' || command === 'DATA')
}

/** `attempts` counts the attempt that failed. */
export function decideFailure(
  error: unknown,
  attempts: number,
  now: Date,
): Exclude<MailOutcome, { kind: 'sent' }> {
  const failure = {
    replyCode: replyCodeOf(error),
    error: error instanceof Error ? error.message : String(error),
  }
  if (isPermanentRefusal(error)) return { kind: 'refused', ...failure }
  if (attempts >= attemptsMax) return { kind: 'failed', ...failure }
  return { kind: 'retry', at: new Date(now.getTime() + retryPauseMs(attempts, pauses)), ...failure }
}

/**
 * What git says to a credential helper (git-credential(1)), as a guest sent it: lines of `key=value`, an empty one at the
 * end. Read strictly and within bounds; whatever is not that, a request of HTTP for instance, is no question.
 */
import { type GitQuestion, gitQuestion } from '@dock/host-protocol'

/** A question is longer only by what the git of the day adds about itself. */
export const questionBytesMax = 8 * 1024
const linesMax = 64
const line = /^([a-z_]+)(\[\])?=([^\0\r\n]*)$/

/** The question, null for anything else. */
export const parseGitQuestion = (bytes: Buffer): GitQuestion | null => {
  const text = bytes.toString('latin1')
  if (bytes.length > questionBytesMax || !text.endsWith('\n\n')) return null
  const lines = text.slice(0, -2).split('\n')
  if (lines.length > linesMax) return null
  const found = new Map<string, string>()
  for (const each of lines) {
    const [, key, list, value] = line.exec(each) ?? []
    if (key === undefined || value === undefined) return null
    // Said twice, it would mean one thing here and another to git.
    if (list === undefined && found.has(key)) return null
    if (list === undefined) found.set(key, value)
  }
  const question = gitQuestion.safeParse({
    protocol: found.get('protocol'),
    host: found.get('host'),
    path: found.get('path'),
  })
  return question.success ? question.data : null
}

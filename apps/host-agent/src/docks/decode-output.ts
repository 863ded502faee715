/** What a command wrote, as text: UTF-8 with replacement, never more bytes than the limit, cut between characters. */
import type { ExecOutcome } from '@dock/host-protocol'

const encoder = new TextEncoder()
const whole = new TextDecoder('utf-8', { ignoreBOM: true })

/** A cut inside a character takes the whole of it away, where the end of the output would read as replaced. */
const decodeCut = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })

/** A replaced byte takes three: a text may outgrow the bytes that it was made of. */
const clip = (text: string, limit: number): { text: string; isCut: boolean } => {
  if (text.length * 3 <= limit) return { text, isCut: false }
  const bytes = encoder.encode(text)
  return bytes.length <= limit
    ? { text, isCut: false }
    : { text: decodeCut(bytes.subarray(0, limit)), isCut: true }
}

/** Both streams of a command; `truncated` says that at least one of them was clipped by the runtime. */
export function decodeOutput(
  output: { stdout: Uint8Array; stderr: Uint8Array; truncated: boolean },
  limit: number,
): Pick<ExecOutcome, 'stdout' | 'stderr' | 'truncated'> {
  const decode = (bytes: Uint8Array) =>
    clip(output.truncated && bytes.length >= limit ? decodeCut(bytes) : whole.decode(bytes), limit)
  const [stdout, stderr] = [decode(output.stdout), decode(output.stderr)]
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    truncated: output.truncated || stdout.isCut || stderr.isCut,
  }
}

/** The text with one more line at its end; what does not fit within the limit is cut off before that line. */
export function withLastLine(text: string, line: string, limit: number): string {
  const { text: kept } = clip(text, limit - encoder.encode(line).length - 2)
  return `${kept}${kept === '' || kept.endsWith('\n') ? '' : '\n'}${line}\n`
}

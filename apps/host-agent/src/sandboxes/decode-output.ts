/** Converts a command's output to text: UTF-8 with replacement characters, cut at a character boundary within a limit. */
import type { ExecOutcome } from '@dock/host-protocol'

const encoder = new TextEncoder()
const whole = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decodes output that was cut at its end. Drops an incomplete last character instead of replacing it. */
const decodeCut = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })

/** Clips text to `limit` bytes. A replacement character takes three bytes, so the text can be longer than its source. */
const clip = (text: string, limit: number): { text: string; isCut: boolean } => {
  if (text.length * 3 <= limit) return { text, isCut: false }
  const bytes = encoder.encode(text)
  return bytes.length <= limit
    ? { text, isCut: false }
    : { text: decodeCut(bytes.subarray(0, limit)), isCut: true }
}

/** Decodes stdout and stderr. `output.truncated` is true if the runtime has clipped at least one of them. */
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

/** Appends a line to the text, and cuts the text before that line if necessary to stay within `limit` bytes. */
export function withLastLine(text: string, line: string, limit: number): string {
  const { text: kept } = clip(text, limit - encoder.encode(line).length - 2)
  return `${kept}${kept === '' || kept.endsWith('\n') ? '' : '\n'}${line}\n`
}

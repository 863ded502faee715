/** Lines of a stream, each bounded: the peer may be hostile, and a line without an end must not be kept. */

/** A line is longer than its reader allows. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

const newline = 0x0a

/**
 * The whole lines of a stream of UTF-8, as many at a time as have come; what follows the last line break is
 * left out. Takes time in proportion to what comes, however it is cut into pieces. Throws {@link LineTooLong} as soon
 * as a line exceeds `bytesMax`.
 */
export async function* splitLines(
  stream: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<string[]> {
  let parts: Buffer[] = []
  let held = 0
  const hold = (part: Buffer): void => {
    held += part.length
    if (held > bytesMax) throw new LineTooLong(`a line is longer than ${bytesMax} bytes`)
    parts.push(part)
  }
  for await (const piece of stream) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    const lines: string[] = []
    let from = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      hold(bytes.subarray(from, end))
      lines.push(Buffer.concat(parts).toString('utf8'))
      parts = []
      held = 0
      from = end + 1
    }
    if (from < bytes.length) hold(bytes.subarray(from))
    if (lines.length > 0) yield lines
  }
}

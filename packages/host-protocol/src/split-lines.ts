/** Splits a stream into lines of bounded length. The peer may be hostile and send an endless line. */

/** A line exceeds the limit. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

const newline = 0x0a

/**
 * Yields the complete lines of a UTF-8 stream in batches, as they arrive. Omits text after the last line break. Takes
 * linear time however the stream is split. Throws {@link LineTooLong} as soon as a line exceeds `bytesMax`.
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

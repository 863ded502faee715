/** Finds the end of a JSON object that arrives in pieces. Scans each byte once, however the bytes are split. */

const [quote, backslash] = [0x22, 0x5c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Called for each bracket outside strings, with its index in the chunk and its nesting depth; 1 is the outer object.
 */
export type OnBracket = (index: number, depth: number, opens: boolean) => void

export class ObjectEnd {
  #depth = 0
  #inString = false
  #isEscaped = false

  /** `closed`: the object ends with the last byte of `chunk`. `excess`: bytes follow its end, or no object begins. */
  feed(chunk: Buffer, onBracket?: OnBracket): 'open' | 'closed' | 'excess' {
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index]
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#inString = false
        continue
      }
      if (byte === quote) this.#inString = true
      else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1
        onBracket?.(index, this.#depth, true)
      } else if (byte === closeBrace || byte === closeBracket) {
        onBracket?.(index, this.#depth, false)
        this.#depth -= 1
        if (this.#depth === 0) return index === chunk.length - 1 ? 'closed' : 'excess'
      }
      if (this.#depth <= 0) return 'excess'
    }
    return 'open'
  }
}

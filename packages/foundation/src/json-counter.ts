/**
 * Counts the values of a JSON text before it is parsed. Parsing millions of tiny values blocks the process for seconds,
 * and the number of bytes does not tell: `[[],[],…]` has a value in every three.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openingBracket = 0x5b
const openingBrace = 0x7b

/**
 * Returns a function that takes the bytes of a JSON text piece by piece. It returns how many commas and opening brackets
 * the text has had so far outside of strings.
 */
export function createJsonCounter(): (bytes: Uint8Array) => number {
  let count = 0
  let isInString = false
  let isEscaped = false
  return (bytes) => {
    const { length } = bytes
    // UTF-8 has none of these bytes within another character. The number is local: that is twice as fast.
    let found = 0
    let index = 0
    while (index < length) {
      if (isInString) {
        if (isEscaped) {
          isEscaped = false
          index += 1
        }
        for (; index < length; index += 1) {
          const byte = bytes[index]
          if (byte === quote) {
            isInString = false
            break
          }
          if (byte === backslash) index += 1
        }
        isEscaped = index > length
      } else {
        for (; index < length; index += 1) {
          const byte = bytes[index]
          if (byte === quote) {
            isInString = true
            break
          }
          if (byte === comma || byte === openingBracket || byte === openingBrace) found += 1
        }
      }
      index += 1
    }
    count += found
    return count
  }
}

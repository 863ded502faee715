/** Reads SSH's binary format (RFC 4251, section 5). Each method throws RangeError if the bytes end too early. */
export class SshReader {
  #at = 0
  readonly #buffer: Buffer

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  bytes(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#buffer.length) throw new RangeError('the bytes end too early')
    const read = this.#buffer.subarray(this.#at, end)
    this.#at = end
    return read
  }

  integer(): number {
    return this.bytes(4).readUInt32BE()
  }

  /** Returns the bytes of a string, which has its length before it. */
  string(): Buffer {
    return this.bytes(this.integer())
  }

  isAtEnd(): boolean {
    return this.#at === this.#buffer.length
  }
}

/** Returns a string with its length before it. */
export function bytesOfString(content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, content])
}

/** A stream to write to, as a terminal or a pipe is. */
export type Sink = {
  write(text: string | Uint8Array): boolean
  isTTY?: boolean
  columns?: number
}

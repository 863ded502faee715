/** Public face of durable copies: made in the background, restored from when a host lacks a capture, swept. */
export { type CopyContext, copyKeysColumn } from './copy-context.ts'
export { type Copies, createCopies } from './keep-copies.ts'
export { NoCopy } from './restore-copy.ts'

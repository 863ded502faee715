/** Public face of durable copies: made in the background, proven, restored from when a host lacks a capture, swept. */
export { type CopyContext, type CopyMetrics, copyKeysColumn } from './copy-context.ts'
export { type CopySettings, parseCopySettings, usualCopySettings } from './copy-settings.ts'
export { type Copies, createCopies } from './keep-copies.ts'
export { NoCopy } from './restore-copy.ts'

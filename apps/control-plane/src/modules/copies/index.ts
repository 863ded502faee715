/** Public interface of durable copies: background copies, restore drills, restores to a host, and sweeps. */
export { type CopyContext, type CopyMetrics, copyKeysColumn } from './copy-context.ts'
export {
  type CopySettings,
  type CopyTimeName,
  copyTimeNames,
  defaultCopySettings,
  readCopySettings,
} from './copy-settings.ts'
export { findVerifiedCopy } from './copy-store.ts'
export { type CopiesModule, createCopiesModule } from './create-copies-module.ts'
export { NoCopy, readCopy } from './restore-copy.ts'
export { sweepCopies } from './sweep-copies.ts'
export { takeCopy } from './take-copy.ts'

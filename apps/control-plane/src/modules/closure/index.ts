/** Public interface of the closure module, which closes, reopens and erases accounts. */
export type { ClosureContext } from './closure-context.ts'
export { type ClosureModule, createClosureModule } from './create-closure-module.ts'
export { closeAccount } from './operations/close-account.ts'
export { eraseAccount } from './operations/erase-account.ts'
export { reopenAccount } from './operations/reopen-account.ts'

/** Public interface of the closure module, which closes, reopens and erases accounts. */

export { closeAccount } from './close-account.ts'
export type { ClosureContext } from './closure-context.ts'
export { eraseAccount } from './erase-account.ts'
export { type ClosureModule, createClosureModule } from './module.ts'
export { reopenAccount } from './reopen-account.ts'

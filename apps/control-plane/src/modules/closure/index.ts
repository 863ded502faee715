/** Public interface of the closure module, which closes, reopens and erases accounts. */
export type { ClosureContext } from './closure-context.ts'
export { type ClosureModule, createClosureModule } from './create-closure-module.ts'
export { closeAccount } from './routes/close-account.ts'
export { eraseAccount } from './routes/erase-account.ts'
export { reopenAccount } from './routes/reopen-account.ts'

/** Public face of closure: accounts that close, open again, and end. */
export type { ClosureContext } from './closure-context.ts'
export { eraseAgain } from './erase-again.ts'
export { closeAccount } from './operations/close-account.ts'
export { eraseAccount } from './operations/erase-account.ts'
export { reopenAccount } from './operations/reopen-account.ts'
export { purgeAccounts } from './purge.ts'

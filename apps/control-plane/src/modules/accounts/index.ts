/** Public face of accounts: people, their sessions and who calls. */
export type { Caller, CallerKind } from './caller.ts'

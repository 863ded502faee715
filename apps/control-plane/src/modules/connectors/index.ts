/** Public face of connectors: how Docks reach the repositories of their Environments. */
export { type AnswerCredential, createAnswerCredential } from './answer-credential.ts'
export type { ConnectedRepository, Connector, GitCredential } from './connector.ts'
export { createLinkedSignIns } from './linked-sign-ins.ts'

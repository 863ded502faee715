/** A Dock's repositories: how they are cloned, and what git in a Dock is told when it asks for a credential. */
import * as z from 'zod'
import { dockText } from './dock-text.ts'

const uuid = z.uuid().lowercase()
const plain = /^[^\p{Cc}]*$/u

/** What git asks for. The words are a Dock's: bounded, free of control characters, and otherwise not to be trusted. */
export const gitQuestion = z.strictObject({
  protocol: z.enum(['http', 'https']),
  host: z.string().min(1).max(255).regex(plain),
  path: z.string().min(1).max(1024).regex(plain),
})
export type GitQuestion = z.infer<typeof gitQuestion>

/** An event: git in a Dock waits for a credential. `askId` is new for each. */
export const credentialAsked = z.strictObject({
  type: z.literal('credential.asked'),
  askId: uuid,
  dockId: uuid,
  generation: z.number().int().min(1),
  question: gitQuestion,
})
export type CredentialAsked = z.infer<typeof credentialAsked>

/** POST /credentials/:askId: the answer; null for none. Answers `{}`, also when nobody waits for it any more. */
export const credentialAnswer = z.strictObject({
  credential: z
    .strictObject({ username: z.string().regex(plain), password: z.string().regex(plain) })
    .nullable(),
})
export type CredentialAnswer = z.infer<typeof credentialAnswer>

/** One repository: its address, the folder below the folder of commands, and the branch, null for the server's own. */
export const repository = z.strictObject({
  id: uuid,
  name: z.string(),
  url: z.url(),
  folder: z.string().regex(/^(?!\.+$|\.git$|\.dock$)[A-Za-z0-9_.-]+$/i),
  branch: z.string().min(1).regex(plain).nullable(),
  hasSetupScript: z.boolean(),
})
export type Repository = z.infer<typeof repository>

/**
 * POST /docks/:dockId/repositories: clones what is not there yet, through a credential helper that asks the agent.
 * What is there stays as it is, so repeating it is harmless.
 */
export const cloneRepositories = z.strictObject({
  operationId: z.string(),
  generation: z.number().int().min(1),
  repositories: z.array(repository),
  timeoutMs: z.number().int(),
})
export type CloneRepositories = z.infer<typeof cloneRepositories>
export const clonedRepositories = z.strictObject({
  /** Those that could not be cloned, with the last words of git. */
  failed: z.array(z.strictObject({ id: uuid, reason: dockText(4096) })),
  /** Those that were not there before. */
  cloned: z.array(uuid),
  /** Those whose setup script has not been begun yet. */
  toSetUp: z.array(uuid),
})
export type ClonedRepositories = z.infer<typeof clonedRepositories>

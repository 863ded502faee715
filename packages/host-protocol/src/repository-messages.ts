/** A Dock's repositories: how they are cloned, and the door through which git in a Dock reaches them. */
import * as z from 'zod'
import { dockText } from './dock-text.ts'

const uuid = z.uuid().lowercase()
const plain = /^[^\p{Cc}]*$/u

/**
 * An event: git in a Dock has connected to the door on its gateway address. The control plane takes the connection by
 * CONNECT /docks/:dockId/git/:connectionId; bytes go both ways, and the agent reads none of them.
 */
export const gitConnected = z.strictObject({
  type: z.literal('git.connected'),
  connectionId: uuid,
  dockId: uuid,
  generation: z.number().int().min(1),
})
export type GitConnected = z.infer<typeof gitConnected>

/**
 * One repository: its address, which ends in `.git`, the path below the door that stands for it, the folder below the
 * folder of commands, and the branch, null for the server's own.
 */
export const repository = z.strictObject({
  id: uuid,
  name: z.string(),
  url: z.url().regex(/^https?:\/\/[A-Za-z0-9._:/[\]-]+\.git$/),
  doorPath: z.string().regex(/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)+\.git$/),
  folder: z.string().regex(/^(?!\.+$|\.git$|\.dock$)[A-Za-z0-9_.-]+$/i),
  branch: z.string().min(1).regex(plain).nullable(),
  hasSetupScript: z.boolean(),
})
export type Repository = z.infer<typeof repository>

/**
 * POST /docks/:dockId/repositories: tells git to reach these repositories through the door, and clones what is not
 * there yet. What is there stays as it is, so repeating it is harmless.
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

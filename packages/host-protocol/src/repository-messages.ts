/** Messages about a Dock's repositories: cloning, and the git door through which git in a Dock reaches them. */
import * as z from 'zod'
import { dockText } from './dock-text.ts'

const uuid = z.uuid().lowercase()
const plain = /^[^\p{Cc}]*$/u

/**
 * Event: git in a Dock connected to the git door on its gateway address. The control plane takes over the connection
 * (`connectGit`). The agent forwards the bytes in both directions without parsing them.
 */
export const gitConnected = z.object({
  type: z.literal('git.connected'),
  connectionId: uuid,
  dockId: uuid,
  generation: z.number().int().min(1),
})
export type GitConnected = z.infer<typeof gitConnected>

/**
 * A repository. `url` ends in `.git`. `doorPath` is its path at the git door. `folder` is relative to the default
 * working folder. `branch` is null for the server's default branch.
 */
export const repository = z.object({
  id: uuid,
  name: z.string(),
  url: z.url().regex(/^https?:\/\/[A-Za-z0-9._:/[\]-]+\.git$/),
  doorPath: z.string().regex(/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)+\.git$/),
  folder: z.string().regex(/^(?!\.+$|\.git$|\.dock$)[A-Za-z0-9_.-]+$/i),
  branch: z.string().min(1).regex(plain).nullable(),
  hasSetupScript: z.boolean(),
})
export type Repository = z.infer<typeof repository>

export const cloneRepositories = z.object({
  operationId: z.string(),
  generation: z.number().int().min(1),
  repositories: z.array(repository),
  timeoutMs: z.number().int(),
})
export type CloneRepositories = z.infer<typeof cloneRepositories>
export const clonedRepositories = z.object({
  /** Repositories that could not be cloned, with the end of git's output. */
  failed: z.array(z.object({ id: uuid, reason: dockText(4096) })),
  /** Repositories that this command cloned. */
  cloned: z.array(uuid),
  /** Repositories whose setup script has not started yet. */
  toSetUp: z.array(uuid),
})
export type ClonedRepositories = z.infer<typeof clonedRepositories>

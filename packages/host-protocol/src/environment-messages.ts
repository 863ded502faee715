/** Secret files of a Dock's Environment, and the update of variables and files in a running Dock. */
import * as z from 'zod'
import { dockVariables } from './setup-messages.ts'

/** Secret files below the default working folder. They replace all earlier secret files; an empty list removes them. */
export const secretFiles = z.array(z.object({ path: z.string().min(1), contents: z.string() }))
export type SecretFiles = z.infer<typeof secretFiles>

export const applyEnvironment = z.object({
  operationId: z.string(),
  generation: z.number().int().min(1),
  env: dockVariables,
  files: secretFiles.optional(),
})
export type ApplyEnvironment = z.infer<typeof applyEnvironment>

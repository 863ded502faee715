/** What a Dock gets from its Environment besides variables, and the change of both while it runs. */
import * as z from 'zod'
import { dockVariables } from './setup-messages.ts'

/** Secret files below the folder of commands, in place of those of an earlier Environment; none removes those. */
export const secretFiles = z.array(z.strictObject({ path: z.string().min(1), contents: z.string() }))
export type SecretFiles = z.infer<typeof secretFiles>

/** POST /docks/:dockId/environment: a running Dock gets these in place of what it has. Answers `{}`. */
export const furnishDock = z.strictObject({
  operationId: z.string(),
  generation: z.number().int().min(1),
  env: dockVariables,
  files: secretFiles.optional(),
})
export type FurnishDock = z.infer<typeof furnishDock>

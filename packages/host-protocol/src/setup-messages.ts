/** Messages about a Dock's variables and setup script. */
import * as z from 'zod'
import { dockText } from './dock-text.ts'

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Variables for every shell of a Dock: commands, terminals, logins. They are stored only in the sandbox's memory, so
 * every start sends them again. Variables of a single command take precedence.
 */
export const dockVariables = z.record(
  z.string().regex(variableName),
  z.string().refine((value) => !value.includes('\0'), 'must not contain a NUL character'),
)
export type DockVariables = z.infer<typeof dockVariables>

export const setupDock = z.object({
  operationId: z.string(),
  generation: z.number().int().min(1),
  script: z.string(),
  timeoutMs: z.number().int(),
})
export type SetupDock = z.infer<typeof setupDock>
/** `output` is the end of the log, at most 4 KiB. */
export const setupOutcome = z.object({
  exitCode: z.number().int(),
  output: dockText(4096),
  timedOut: z.boolean(),
})
export type SetupOutcome = z.infer<typeof setupOutcome>

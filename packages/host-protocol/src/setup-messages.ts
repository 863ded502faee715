/** Variables of a Dock, and its setup script. */
import * as z from 'zod'
import { dockText } from './dock-text.ts'

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Variables for every shell of a Dock: commands, terminals, logins. They are kept in the sandbox's memory only, so each
 * start brings them again. What a command is given for itself goes first.
 */
export const dockVariables = z.record(
  z.string().regex(variableName),
  z.string().refine((value) => !value.includes('\0'), 'must not hold a NUL character'),
)
export type DockVariables = z.infer<typeof dockVariables>

/**
 * POST /docks/:dockId/setup: runs the script as the Dock user in the folder of commands, its output in the read-only
 * /home/user/.dock/setup.log. Answers at its end; repeated, also after the link or the agent was lost, it joins the run
 * of the same operation. A Dock that ends meanwhile is `not_running`.
 */
export const setupDock = z.strictObject({
  operationId: z.string(),
  generation: z.number().int().min(1),
  script: z.string(),
  timeoutMs: z.number().int(),
})
export type SetupDock = z.infer<typeof setupDock>
/** `output`: the last lines of the log, at most 4 KiB. */
export const setupOutcome = z.strictObject({
  exitCode: z.number().int(),
  output: dockText(4096),
  timedOut: z.boolean(),
})
export type SetupOutcome = z.infer<typeof setupOutcome>

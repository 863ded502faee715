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

/**
 * POST /docks/:dockId/setup: runs the script as the Dock user in the default working folder. Its output goes to
 * /home/user/.dock/setup.log, which the user can only read. Returns when the script ends. Repeating the call joins the
 * run of the same operation, even after the link or the agent was lost. Refused with `not_running` if the Dock ends
 * first.
 */
export const setupDock = z.strictObject({
  operationId: z.string(),
  generation: z.number().int().min(1),
  script: z.string(),
  timeoutMs: z.number().int(),
})
export type SetupDock = z.infer<typeof setupDock>
/** `output` is the end of the log, at most 4 KiB. */
export const setupOutcome = z.strictObject({
  exitCode: z.number().int(),
  output: dockText(4096),
  timedOut: z.boolean(),
})
export type SetupOutcome = z.infer<typeof setupOutcome>

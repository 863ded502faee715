/**
 * Processes with streams. CONNECT /docks/:dockId/processes/:processId starts a program as the Dock's user; the caller
 * chooses `processId`, a uuid. Its first bytes upwards are an {@link openProcess} with its length before it (u32, big
 * endian). The agent refuses with `busy` if {@link attachedProcessesMax} processes run, with `exec_refused` if the
 * program does not start. It may dial back (dial-back.ts), as for ports. Then both directions are frames
 * (process-frames.ts): upwards the program's input, whose end is a frame of its own, downwards both outputs and a
 * {@link processEnd}. If the connection ends before, the agent hangs up: it sends HUP to the program's process group.
 */
import { limits } from '@dock/contract'
import * as z from 'zod'
import { boundedList } from './bounded.ts'
import { terminalSize } from './connection-messages.ts'

export const attachedProcessesMax: number = limits.attachedProcessesPerDockMax
/** Fits a command and variables at their limits with every character escaped in JSON. */
export const openProcessBytesMax = 2 ** 20

/** `argv`, or a `command` of a login bash; with neither, a login shell. `cwd` defaults to the work folder. */
export const openProcess = z
  .strictObject({
    generation: z.number().int().min(1),
    command: z.string().optional(),
    argv: z.array(z.string()).min(1).optional(),
    env: z.record(z.string(), z.string()),
    cwd: z.string().optional(),
    pty: terminalSize.optional(),
  })
  .refine(
    ({ command, argv }) => command === undefined || argv === undefined,
    'command and argv exclude each other',
  )
export type OpenProcess = z.infer<typeof openProcess>

/**
 * The query of the CONNECT. With `waitsForOutputs`, the process is over when the program has ended and no process holds
 * its outputs any more; without it, the outputs end with the program. An older agent ignores what it does not know here.
 */
export const processQuery = z.object({ waitsForOutputs: z.literal('1').optional() })

/**
 * `exitCode` is null if a signal ended the program, which `signal` then names. Both are null if the Dock ended first, or
 * the end is unknown.
 */
export const processEnd = z.strictObject({
  exitCode: z.number().int().nullable(),
  signal: z.string().max(20).nullable(),
  killedForMemory: boundedList(z.string().max(64), 100).optional(),
})
export type ProcessEnd = z.infer<typeof processEnd>

export const signalName = z.enum([
  ...['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'USR2'],
  ...['PIPE', 'ALRM', 'TERM', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'WINCH'],
] as const)
export type SignalName = z.infer<typeof signalName>

/**
 * POST /docks/:dockId/processes/:processId/signal: signals the program's process group. Returns `{}`, even after its
 * end. POST …/resize with a `terminalSize` does nothing without a pseudo-terminal.
 */
export const signalProcess = z.strictObject({ signal: signalName })

/** Messages of processes with streams, of ports, and of terminals' sizes. */
import { limits } from '@dock/contract'
import * as z from 'zod'
import { boundedList } from './bounded.ts'

const generation = z.number().int().min(1)
const cells = z.number().int().min(1).max(1000)

export const terminalSize = z.object({ cols: cells, rows: cells })
export type TerminalSize = z.infer<typeof terminalSize>

export const connectPort = z.object({ generation: z.coerce.number().int().min(1) })
export type ConnectPort = z.infer<typeof connectPort>

export const attachedProcessesMax: number = limits.attachedProcessesPerDockMax
/** Fits a command and variables at their limits with every character escaped in JSON. */
export const openProcessBytesMax = 2 ** 20

/** `argv`, or a `command` of a login bash; with neither, a login shell. `cwd` defaults to the work folder. */
export const openProcess = z
  .object({
    generation,
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
 * With `waitsForOutputs`, the process is over when the program has ended and no process holds its outputs any more; without
 * it, the outputs end with the program.
 */
export const processQuery = z.object({ waitsForOutputs: z.literal('1').optional() })

/**
 * `exitCode` is null if a signal ended the program, which `signal` then names. Both are null if the Dock ended first, or
 * the end is unknown.
 */
export const processEnd = z.object({
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

export const signalProcess = z.object({ signal: signalName })

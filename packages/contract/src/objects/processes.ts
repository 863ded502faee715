/** Processes that outlive the request that started them. */
import * as z from 'zod'
import { count, timestamp, uuid } from '../fields.ts'
import { limits } from '../limits.ts'

const cells = z.int().min(limits.processes.cells.min).max(limits.processes.cells.max)
export const terminalCells = z.strictObject({ cols: cells, rows: cells })

export const processStates = ['running', 'ended'] as const
export const processState = z.enum(processStates)

export const processEndReasons = [
  'exited',
  'signaled',
  'timed_out',
  'out_of_memory',
  'dock_ended',
  'keeper_lost',
  'lost',
] as const

export const processEndReason = z.enum(processEndReasons)

/** Bytes before `firstOffset` are no longer kept. `endOffset` is the offset after the last byte so far. */
export const processOutput = z.strictObject({ firstOffset: count, endOffset: count, open: z.boolean() })

/** `offset` is the offset of the next byte of input. */
export const processStdin = z.strictObject({ offset: count, open: z.boolean() })

/**
 * `reason` says why a process ended: `exited` or `signaled` by itself, `timed_out`, `out_of_memory` if the Dock ran out of
 * memory and ended it or a process that it had started, `dock_ended` with its Dock's sandbox,
 * `keeper_lost` because the host lost its pipes, `lost` if the host does not know its exit code.
 */
export const dockProcess = z.strictObject({
  id: uuid,
  /** The beginning of the command. */
  command: z.string(),
  pty: terminalCells.nullable(),
  state: processState,
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  reason: processEndReason.nullable(),
  startedAt: timestamp,
  endedAt: timestamp.nullable(),
  stdin: processStdin,
  stdout: processOutput,
  /** Null for a process with a terminal, whose output is all in `stdout`. */
  stderr: processOutput.nullable(),
})
export type DockProcess = z.output<typeof dockProcess>

/** The offset of the next byte of input. */
export const processInput = z.strictObject({ offset: count })
export type ProcessInput = z.output<typeof processInput>

/** The request was carried out. */
export const processDone = z.strictObject({ done: z.literal(true) })

/** Messages about kept processes: programs of the Dock's user that outlive the request that started them. */
import { limits } from '@dock/contract'
import * as z from 'zod'
import { boundedList } from './bounded.ts'
import { dockText } from './dock-text.ts'
import { signalName, terminalSize } from './process-messages.ts'

const uuid = z.uuid().lowercase()
const offset = z.number().int().min(0)

export const keptRunningMax: number = limits.processes.runningPerDockMax
export const keptEndedMax: number = limits.processes.endedPerDockMax

export const startKeptProcess = z.object({
  processId: uuid,
  generation: z.number().int().min(1),
  command: z.string().optional(),
  argv: z.array(z.string()).min(1).optional(),
  env: z.record(z.string(), z.string()),
  cwd: z.string().optional(),
  pty: terminalSize.optional(),
  /** False: the program's input is empty. */
  stdin: z.boolean(),
  /** True: drops no output before its first reader comes, for as long as a reader may hold it back. */
  holdOutput: z.boolean().optional(),
  /** After this time the whole process tree is killed. */
  timeoutMs: z.number().int().min(1).optional(),
  /** True: starts the process again if an agent died while it started it, so that nobody knows how far it came. */
  startLostAgain: z.boolean().optional(),
})
export type StartKeptProcess = z.infer<typeof startKeptProcess>

/**
 * Why a process ended. `lost`: its exit code is unknown, because the agent was not there. `dock_ended`: its sandbox ended.
 * `out_of_memory`: the Dock ran out of memory, so the process, or one that it had started, was ended. `keeper_lost`: the host lost the pipes, and ended the process.
 */
export const keptEndReason = z.enum([
  ...(['exited', 'signaled', 'timed_out', 'out_of_memory', 'dock_ended', 'keeper_lost', 'lost'] as const),
])
export const keptEnd = z.object({
  exitCode: z.number().int().nullable(),
  signal: z.string().max(20).nullable(),
  reason: keptEndReason,
  at: z.iso.datetime(),
})
export type KeptEnd = z.infer<typeof keptEnd>

/** `first` is the offset of the first byte that is kept, `end` the offset after the last byte. */
export const keptOutput = z.object({ first: offset, end: offset, isOpen: z.boolean() })
export const keptProcess = z.object({
  processId: uuid,
  /** The beginning of the command, for lists. */
  command: dockText(limits.processes.shownCommandLengthMax),
  pty: terminalSize.nullable(),
  startedAt: z.iso.datetime(),
  /** Null while the process runs. */
  end: keptEnd.nullable(),
  stdin: z.object({ offset, isOpen: z.boolean() }),
  stdout: keptOutput,
  /** Null if the process has a pseudo-terminal. */
  stderr: keptOutput.nullable(),
})
export type KeptProcess = z.infer<typeof keptProcess>
export const keptProcesses = z.object({ processes: boundedList(keptProcess, 1_000) })

export const signalKeptProcess = z.object({
  signal: signalName,
  target: z.enum(['process', 'group', 'tree']),
})
export type SignalKeptProcess = z.infer<typeof signalKeptProcess>

/** The offset of the next byte. */
export const keptInput = z.object({ offset })

export const keptStream = z.enum(['stdout', 'stderr'])
export type KeptStream = z.infer<typeof keptStream>
/** Headers of an output: the first offset that is kept, and the offset at which the body begins. */
export const firstOffsetHeader = 'x-first-offset'
export const startOffsetHeader = 'x-start-offset'
export const waitQuery = z.object({ ms: z.coerce.number().int().min(0) })
const queryOffset = z.coerce.number().int().min(0)
export const keptInputQuery = z.object({ offset: z.union([z.literal('next'), queryOffset]) })
/** Where input is written: at this offset, or `next`: after everything that was written before. */
export type KeptInputOffset = z.infer<typeof keptInputQuery>['offset']
export const keptOutputQuery = z.object({
  offset: queryOffset,
  follow: z.stringbool({ truthy: ['true'], falsy: ['false'] }),
})

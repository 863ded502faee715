/** Starts a kept process: the keeper's pipes become its streams. */
import { closeSync, openSync } from 'node:fs'
import { faultPoint } from '@dock/foundation'
import {
  type KeptProcess as KeptProcessView,
  keptEndedMax,
  keptRunningMax,
  type StartKeptProcess,
} from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import type { StreamsState } from '../../process-keeper/kept-streams.ts'
import type { PipePaths } from '../../process-keeper/pipes.ts'
import { AgentRefusal } from '../agent-refusal.ts'
import type { DockState } from '../dock-state.ts'
import { type DockProcess, openProcess } from '../processes/open-process.ts'
import { countRunning, createKeptProcess, type KeptProcess } from './kept-process.ts'
import { readKept, recordEnd, removeEnded, reportRunning, viewOf } from './kept-processes.ts'
import type { KeptRecord } from './kept-record.ts'

const shownLengthMax = 1024

/** True if an agent died while it started the process. What it had started was ended. */
const isStartLost = ({ record }: KeptProcess): boolean =>
  record.reference === null && record.end?.reason === 'lost'

/**
 * Starts the process, or returns it if this id was started before. With `startLostAgain` a lost start does not count. Throws
 * `busy` while {@link keptRunningMax} run.
 */
export async function startKept(dock: DockState, request: StartKeptProcess): Promise<KeptProcessView> {
  const { kept } = dock
  const { processId } = request
  const earlier = kept.get(processId)
  if (earlier && !(request.startLostAgain && isStartLost(earlier))) return readKept(dock, processId)
  if (countRunning(kept) >= keptRunningMax)
    throw new AgentRefusal('busy', `${keptRunningMax} processes run; wait until one has ended`)
  const process = createKeptProcess(recordOf(dock, request), null)
  // From here on it counts, so that requests at the same time cannot exceed the limit.
  kept.set(processId, process)
  try {
    if (earlier) await dock.parts.keeper.remove(dock.dockId, processId)
    await start(dock, process, request)
  } catch (error) {
    await discard(dock, processId)
    throw error
  }
  reportRunning(dock)
  await removeEnded(dock, keptEndedMax)
  return viewOf(process, freshStreams(request))
}

/** The streams of a process that has just been started. */
const freshStreams = ({ stdin, pty }: StartKeptProcess): StreamsState => {
  const output = { first: 0, end: 0, isOpen: true }
  return { stdin: { offset: 0, isOpen: stdin }, stdout: output, stderr: pty ? null : output, lost: false }
}

const recordOf = (dock: DockState, request: StartKeptProcess): KeptRecord => {
  const { processId, generation, command, argv, pty, timeoutMs } = request
  const text = command ?? argv?.join(' ') ?? ''
  return {
    ...{ version: 1, processId, generation, bootId: dock.parts.bootId },
    ...{ command: text.slice(0, shownLengthMax), pty: pty ?? null, timeoutMs: timeoutMs ?? null },
    ...{ startedAt: dock.parts.clock.now().toISOString(), reference: null, end: null },
  }
}

const start = async (dock: DockState, process: KeptProcess, request: StartKeptProcess): Promise<void> => {
  const { parts, dockId } = dock
  const { keeper, keptRecords } = parts
  const { processId, stdin, timeoutMs, holdOutput = false, startLostAgain: _, ...wanted } = request
  // A later agent removes a process with this record: without a reference it cannot know whether the process runs.
  const [paths] = await Promise.all([
    keeper.create(dockId, processId, {
      ...{ stdin, stderr: request.pty === undefined, holdOutput },
      owner: dock.record?.spec?.organizationId,
    }),
    keptRecords.write(dockId, process.record),
  ])
  const opened = await openWithPipes(dock, processId, paths, wanted)
  faultPoint('agent:start-kept:opened')
  const sandbox = dock.live
  process.sandbox = sandbox
  process.record = { ...process.record, reference: opened.opened.reference }
  await keptRecords.write(dockId, process.record)
  // The response need not wait for this. An agent that takes the process over repeats it.
  keeper.markStarted(dockId, processId).catch((error: unknown) => {
    dock.logger.warn({ err: error, processId }, 'could not tell the keeper that a process has started')
  })
  watchEnd(dock, process, opened)
  if (sandbox) watchTimeout(dock, process, sandbox)
}

const openWithPipes = async (
  dock: DockState,
  processId: string,
  { stdin, stdout, stderr }: PipePaths,
  wanted: Omit<StartKeptProcess, 'processId' | 'stdin' | 'timeoutMs' | 'holdOutput' | 'startLostAgain'>,
): Promise<DockProcess> => {
  const opened: number[] = []
  const open = (path: string, flags: string): number => {
    const descriptor = openSync(path, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    const [input, output] = [open(stdin, 'r'), open(stdout, 'w')]
    const descriptors = [input, output, stderr === null ? output : open(stderr, 'w')] as const
    return await openProcess(dock, processId, wanted, { descriptors })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

const discard = async (dock: DockState, processId: string): Promise<void> => {
  dock.kept.delete(processId)
  const { keeper, keptRecords } = dock.parts
  const removals = [keptRecords.remove(dock.dockId, processId), keeper.remove(dock.dockId, processId)]
  for (const removal of await Promise.allSettled(removals))
    if (removal.status === 'rejected')
      dock.logger.warn({ err: removal.reason, processId }, 'could not remove a process that did not start')
}

const watchEnd = (dock: DockState, process: KeptProcess, { ended }: DockProcess): void => {
  const { sandbox } = process
  void ended.then(async ({ exitCode, signal, killedForMemory = [], streamsLost }) => {
    const isUnknown = exitCode === null && signal === null
    const isDockOver = isUnknown && dock.live !== sandbox
    const own = killedForMemory.length > 0 ? 'out_of_memory' : signal === null ? 'exited' : 'signaled'
    const lost = streamsLost ? 'keeper_lost' : 'lost'
    const reason = process.endedBecause ?? (isDockOver ? 'dock_ended' : isUnknown ? lost : own)
    await recordEnd(dock, process, { exitCode, signal, reason })
  })
}

/** Ends the process with its tree when its time is over, counted from its start. */
export function watchTimeout(dock: DockState, process: KeptProcess, sandbox: SandboxHandle): void {
  const { clock } = dock.parts
  const { timeoutMs, startedAt } = process.record
  if (timeoutMs === null) return
  const leftMs = Date.parse(startedAt) + timeoutMs - clock.now().getTime()
  const cancel = clock.after(Math.max(0, leftMs), () => endKept(dock, process, sandbox, 'timed_out'))
  void process.ended.then(cancel)
}

/** Ends the process with its tree. Its end is recorded when it has ended. */
export function endKept(
  dock: DockState,
  process: KeptProcess,
  sandbox: SandboxHandle,
  why: KeptProcess['endedBecause'],
): void {
  const { reference, processId } = process.record
  if (!reference || process.record.end) return
  process.endedBecause = why
  dock.parts.driver.endExec(sandbox, reference).catch((error: unknown) => {
    dock.logger.warn({ err: error, processId, why }, 'could not end a kept process')
  })
}

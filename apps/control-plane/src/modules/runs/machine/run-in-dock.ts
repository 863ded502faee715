/**
 * Runs a command in the Dock of a Run as a kept process: it outlives agent and control plane, and repeating it with the
 * same id joins the first one.
 */
import { Readable } from 'node:stream'
import { type HostGateway, HostUnreachable, type KeptPlace, type KeptProcess } from '../../hosts/index.ts'

export type Machine = { hostId: string; dockId: string; generation: number }

export type InDock = {
  processId: string
  command: string
  env: Readonly<Record<string, string>>
  input?: Buffer
  timeoutMs: number
}

type KeptCalls = Pick<
  HostGateway,
  'startKept' | 'readKept' | 'waitForKept' | 'writeKeptInput' | 'closeKeptInput' | 'openKeptOutput'
>

/**
 * Starts the process, and writes its input to the end. The command begins once its first line is there, so that a start
 * which broke off, and is done again, has done nothing.
 */
export async function startInDock(
  gateway: KeptCalls,
  { hostId, dockId, generation }: Machine,
  { processId, command, env, input = noInput, timeoutMs }: InDock,
): Promise<KeptPlace> {
  const place = { hostId, dockId, processId }
  const started = await gateway.startKept(
    { hostId, dockId },
    {
      processId,
      generation,
      env: { ...env },
      stdin: true,
      timeoutMs,
      startLostAgain: true,
      command: withStatus(`${waitForStart}\n${command}`),
    },
  )
  if (started.end !== null || !started.stdin.isOpen) return place
  const left = Buffer.concat([startLine, input]).subarray(started.stdin.offset)
  try {
    if (left.length > 0)
      await gateway.writeKeptInput(place, { offset: started.stdin.offset }, Readable.from([left]))
    await gateway.closeKeptInput(place)
  } catch (error) {
    // A program that ends without reading its input has closed it.
    if ((await gateway.readKept(place)).end === null) throw error
  }
  return place
}

/**
 * Returns the command so that it also writes its exit code to its second output, which nothing else uses. The host does
 * not know the exit code of a process that ended while no agent was there; what it wrote is kept. What the shell itself says,
 * such as a mistake in the syntax, is part of the output.
 */
const withStatus = (command: string): string => `exec 3>&2 2>&1
(
${command}
) 2>/dev/null 3>&-
RUN_STATUS=$?
exec 2>/dev/null
printf '%d\\n' $RUN_STATUS >&3
( exit $RUN_STATUS )
`

/** Returns the end of a process, with the exit code that it wrote itself if the host does not know it. */
const endOf = async (
  gateway: KeptCalls,
  place: KeptPlace,
  { end }: KeptProcess,
): Promise<KeptProcess['end']> => {
  if (end?.reason !== 'lost') return end
  let status = ''
  await follow(gateway, place, 'stderr', 0, (piece) => {
    status += piece.toString('latin1')
    return status.length < statusLengthMax
  })
  const exitCode = /^(\d{1,3})\n$/.exec(status)?.[1]
  return exitCode === undefined ? end : { ...end, exitCode: Number(exitCode), reason: 'exited' }
}

/** Runs the command to its end. `output` is the last part of its output. `keepWaiting` throws to stop the wait. */
export async function runInDock(
  gateway: KeptCalls,
  machine: Machine,
  request: InDock,
  keepWaiting: () => Promise<void>,
): Promise<{ end: NonNullable<KeptProcess['end']>; output: string }> {
  const place = await startInDock(gateway, machine, request)
  for (;;) {
    const process = await gateway.waitForKept(place, { ms: waitMs })
    const { stdout } = process
    const end = await endOf(gateway, place, process)
    if (end !== null) {
      let tail = Buffer.alloc(0)
      await follow(gateway, place, 'stdout', Math.max(stdout.first, stdout.end - outputBytesMax), (piece) => {
        tail = Buffer.concat([tail, piece]).subarray(-outputBytesMax)
        return true
      })
      return { end, output: tail.toString('utf8') }
    }
    await keepWaiting()
  }
}

/**
 * Follows the output of a process from an offset on, for at most a second or `bytesMax`. If `end` is set, `bytes` are the
 * last ones.
 */
export async function followInDock(
  gateway: KeptCalls,
  place: KeptPlace,
  offset: number,
  bytesMax: number,
): Promise<{ bytes: Buffer; start: number; end: KeptProcess['end'] }> {
  // The state is read first: what an ended process wrote is complete.
  const known = await gateway.readKept(place)
  const pieces: Buffer[] = []
  let length = 0
  const { start, isOver } = await follow(gateway, place, 'stdout', offset, (piece) => {
    pieces.push(piece)
    length += piece.length
    return length < bytesMax
  })
  const bytes = Buffer.concat(pieces).subarray(0, bytesMax)
  // Its output may end a moment before the process, or long before it.
  if (isOver) {
    const process = known.end === null ? await gateway.waitForKept(place, { ms: waitMs }) : known
    return { bytes, start, end: await endOf(gateway, place, process) }
  }
  // A daemon that the process left may keep the output open, so its end is not waited for if nothing comes.
  return { bytes, start, end: length === 0 ? await endOf(gateway, place, known) : null }
}

/**
 * Passes output to `take` as it comes, until it ends, `take` returns false, or a second has passed. `isOver` is true if
 * it has ended and all of it was taken. Throws {@link HostUnreachable} if it breaks off.
 */
const follow = async (
  gateway: KeptCalls,
  place: KeptPlace,
  output: 'stdout' | 'stderr',
  offset: number,
  take: (piece: Buffer) => boolean,
): Promise<{ start: number; isOver: boolean }> => {
  const { start, body } = await gateway.openKeptOutput({ ...place, stream: output }, { offset, follow: true })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    body.destroy()
  }, waitMs)
  try {
    for await (const piece of body) if (!take(piece as Buffer)) return { start, isOver: false }
    return { start, isOver: !isLate }
  } catch (error) {
    if (isLate) return { start, isOver: false }
    throw new HostUnreachable('the output of a process broke off', { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

const waitMs = 1_000
/** bash reads a pipe byte by byte here, so that the command gets all that follows. */
const waitForStart = 'IFS= read -r _ || exit'
const startLine = Buffer.from('\n')
const noInput = Buffer.alloc(0)
const outputBytesMax = 16 * 1024
const statusLengthMax = 16

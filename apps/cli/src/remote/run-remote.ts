/** Runs a command in a Dock as if it ran here: input, both outputs, signals and the exit code. */
import type { Dock, OutputName, Process } from '@dock/sdk'
import type { Sink } from '../output/sink.ts'
import { writeTo } from '../output/write-to.ts'
import { brokenPipeExitCode, isBrokenPipe } from '../program/broken-pipe.ts'
import { exitCodeOfProcess } from './exit-code-of-process.ts'
import { passSignals } from './pass-signals.ts'
import { sendInput } from './send-input.ts'

export type RemoteOptions = {
  env?: Record<string, string>
  cwd?: string
  timeoutSeconds?: number
  /** Sends standard input. */
  isInput: boolean
}

export type Sinks = Readonly<Record<OutputName, Pick<Sink, 'write'>>>

/** What arrived, and when the last of it was written. */
type Received = Record<OutputName, number> & { lastAt: number }

const copy = async (
  process: Process,
  name: OutputName,
  sinks: Sinks,
  received: Received,
  signal: AbortSignal,
) => {
  const sink = sinks[name]
  for await (const bytes of process[name].bytes({ offset: 0, signal })) {
    await writeTo(sink, bytes)
    received[name] += bytes.length
    received.lastAt = Date.now()
  }
}

const quietMs = 1000

/**
 * Waits until everything that the command wrote has arrived. Its outputs stay open as long as a daemon that it left holds
 * them, so the end is also when everything is here and nothing more has come for a second.
 */
const untilReceived = async (
  process: Process,
  received: Received,
  copies: Promise<unknown>,
): Promise<void> => {
  let isDone = false
  const done = copies.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 100))])
    if (isDone || Date.now() - received.lastAt < quietMs) continue
    const { stdout, stderr } = await process.info()
    if (received.stdout >= stdout.endOffset && received.stderr >= (stderr?.endOffset ?? 0)) return
  }
  await done
}

/** Runs the command to its end and returns its exit code. */
export async function runRemote(
  dock: Dock,
  command: string,
  { isInput, env, cwd, timeoutSeconds }: RemoteOptions,
  sinks: Sinks,
): Promise<number> {
  const process = await dock.spawn(command, { stdin: isInput, env, cwd, timeoutSeconds })
  const stopPassing = passSignals(process)
  const ending = new AbortController()
  const { signal } = ending
  const { stdout } = globalThis.process
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>()
  stdout.on('error', breakOff)
  try {
    const received: Received = { stdout: 0, stderr: 0, lastAt: Date.now() }
    const input = isInput ? sendInput(dock.client, { id: dock.id, pid: process.id }, signal) : undefined
    const copies = Promise.all(
      (['stdout', 'stderr'] as const).map((name) => copy(process, name, sinks, received, signal)),
    )
    // A failure of either ends the command here.
    const failed = Promise.all([input, copies]).then(() => new Promise<never>(() => undefined))
    const ended = await Promise.race([process.wait({ signal }), failed, broken])
    received.lastAt = Date.now()
    await Promise.race([untilReceived(process, received, copies), broken])
    return exitCodeOfProcess(ended)
  } catch (error) {
    if (!isBrokenPipe(error)) throw error
    await process.kill('HUP').catch(() => undefined)
    return brokenPipeExitCode
  } finally {
    stopPassing()
    stdout.off('error', breakOff)
    ending.abort()
  }
}

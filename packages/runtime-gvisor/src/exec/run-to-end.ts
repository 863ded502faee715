/** Runs a command through a transport, with its input and output streams. */
import { openSync } from 'node:fs'
import { InputPipe } from '../pipes/input-pipe.ts'
import type { LeftPipe } from '../pipes/left-outputs.ts'
import { OutputPipe } from '../pipes/output-pipe.ts'
import type { Command, ExecTransport, StartedCommand } from './exec-transport.ts'

export type RunOptions = {
  input?: string | Buffer | Promise<Buffer> | undefined
  outputLimitBytes: number
  onOutput?: ((stream: 'stdout' | 'stderr', chunk: Buffer) => void) | undefined
  onStarted?: (command: StartedCommand) => void
  /** Takes over the outputs, which background processes of the command may still hold. Without it they are closed. */
  onLeft?: (outputs: readonly LeftPipe[]) => void
}

export type RunResult = {
  /** `refused` if no process was created; `unknown` if the command was abandoned. */
  exitCode: number | 'refused' | 'unknown'
  stdout: Buffer
  stderr: Buffer
  truncated: boolean
}

let emptyFd: number | undefined
/** Standard input of commands without input: one shared descriptor, kept open. */
const devNull = (): number => {
  emptyFd ??= openSync('/dev/null', 'r')
  return emptyFd
}

const writeInput = async (pipe: InputPipe, input: RunOptions['input']): Promise<void> => {
  const given = await Promise.resolve(input).catch(() => undefined)
  if (given?.length) pipe.write(given)
  pipe.end()
}

/**
 * Returns when the command has ended, or when `abandoned` resolves first. Does not wait for background processes of the
 * command.
 */
export async function runToEnd(
  transport: ExecTransport,
  sandboxId: string,
  command: Command,
  wanted: RunOptions,
  abandoned: Promise<unknown>,
): Promise<RunResult> {
  const { onOutput, outputLimitBytes } = wanted
  let input: InputPipe | undefined
  let stdout: OutputPipe | undefined
  let stderr: OutputPipe | undefined
  let isLeft = false
  try {
    // Without a free descriptor a pipe fails, and those before it must be closed.
    if (wanted.input !== undefined) input = new InputPipe()
    stdout = new OutputPipe(outputLimitBytes, onOutput && ((chunk) => onOutput('stdout', chunk)))
    stderr = new OutputPipe(outputLimitBytes, onOutput && ((chunk) => onOutput('stderr', chunk)))
    const started = await transport.start(sandboxId, command, [
      input?.readFd ?? devNull(),
      stdout.writeFd,
      stderr.writeFd,
    ])
    input?.closeReader()
    stdout.closeWriter()
    stderr.closeWriter()
    if (input) void writeInput(input, wanted.input)
    wanted.onStarted?.(started)
    const exitCode = await Promise.race([started.ended, abandoned.then(() => 'unknown' as const)])
    if (exitCode === 'unknown') {
      started.ended.catch(() => undefined)
      started.release()
    }
    const [out, err] = [stdout.finish(), stderr.finish()]
    wanted.onLeft?.([stdout, stderr])
    isLeft = wanted.onLeft !== undefined
    return { exitCode, stdout: out, stderr: err, truncated: stdout.truncated || stderr.truncated }
  } finally {
    input?.destroy()
    if (!isLeft) for (const output of [stdout, stderr]) output?.close()
  }
}

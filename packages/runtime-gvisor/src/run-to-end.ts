/** Runs one command through a transport: its streams, and the moment at which its output is complete. */
import { openSync } from 'node:fs'
import type { Command, ExecTransport, StartedCommand } from './exec-transport.ts'
import { InputPipe } from './input-pipe.ts'
import { OutputPipe } from './output-pipe.ts'

export type Wanted = {
  input?: string | Buffer | Promise<Buffer> | undefined
  outputLimitBytes: number
  onOutput?: ((stream: 'stdout' | 'stderr', chunk: Buffer) => void) | undefined
  onStarted?: (command: StartedCommand) => void
}

export type Ran = {
  /** `refused` when there never was a process; `unknown` when it was given up. */
  exitCode: number | 'refused' | 'unknown'
  stdout: Buffer
  stderr: Buffer
  truncated: boolean
}

let emptyFd: number | undefined
/** Standard input of what is given none: one descriptor for all, kept open. */
const nothing = (): number => {
  emptyFd ??= openSync('/dev/null', 'r')
  return emptyFd
}

const giveInput = async (pipe: InputPipe, input: Wanted['input']): Promise<void> => {
  const given = await Promise.resolve(input).catch(() => undefined)
  if (given?.length) pipe.write(given)
  pipe.end()
}

/** Answers when the command has ended, or `givenUp` resolves first. Background processes do not hold the answer. */
export async function runToEnd(
  transport: ExecTransport,
  sandboxId: string,
  command: Command,
  wanted: Wanted,
  givenUp: Promise<unknown>,
): Promise<Ran> {
  const { onOutput, outputLimitBytes } = wanted
  const input = wanted.input === undefined ? undefined : new InputPipe()
  const stdout = new OutputPipe(outputLimitBytes, onOutput && ((chunk) => onOutput('stdout', chunk)))
  const stderr = new OutputPipe(outputLimitBytes, onOutput && ((chunk) => onOutput('stderr', chunk)))
  try {
    const started = await transport.start(sandboxId, command, [
      input?.readFd ?? nothing(),
      stdout.writeFd,
      stderr.writeFd,
    ])
    input?.closeReader()
    stdout.closeWriter()
    stderr.closeWriter()
    if (input) void giveInput(input, wanted.input)
    wanted.onStarted?.(started)
    const exitCode = await Promise.race([started.ended, givenUp.then(() => 'unknown' as const)])
    if (exitCode === 'unknown') {
      started.ended.catch(() => undefined)
      started.release()
    }
    const [out, err] = [stdout.finish(), stderr.finish()]
    return { exitCode, stdout: out, stderr: err, truncated: stdout.truncated || stderr.truncated }
  } finally {
    input?.destroy()
    stdout.finish()
    stderr.finish()
  }
}

/** Runs host programs with an argument list, never through a shell. */
import { spawn } from 'node:child_process'

export type CommandResult = { code: number; stdout: string; stderr: string }

/** A program exited with a code other than 0. The message contains its standard error. */
export class CommandFailed extends Error {
  readonly program: string
  readonly result: CommandResult
  constructor(program: string, args: readonly string[], result: CommandResult) {
    super(`${program} ${args.join(' ')}: exit ${result.code}: ${result.stderr.trim().slice(-2000)}`)
    this.name = 'CommandFailed'
    this.program = program
    this.result = result
  }
}

export type CommandOptions = {
  input?: string
  env?: NodeJS.ProcessEnv
  cwd?: string
  timeoutMs?: number
  /** A program that prints more than this on stdout and stderr together is killed. Default: unlimited. */
  outputBytesMax?: number
}

/**
 * Runs a program and returns its result for any exit code. A program killed by a signal has code 128. Rejects if the
 * program cannot be started.
 */
export function tryCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(options.env ? { env: options.env } : {}),
      ...(options.cwd ? { cwd: options.cwd } : {}),
      ...(options.timeoutMs ? { timeout: options.timeoutMs, killSignal: 'SIGKILL' as const } : {}),
    })
    // Before anything that may throw: without descriptors left, the child has no streams, and its error comes later.
    child.once('error', reject)
    let stdout = ''
    let stderr = ''
    let printedBytes = 0
    /** Returns the piece of output, or nothing once the limit is exceeded. */
    const within = (text: string): string => {
      printedBytes += Buffer.byteLength(text)
      if (printedBytes <= (options.outputBytesMax ?? Number.POSITIVE_INFINITY)) return text
      child.kill('SIGKILL')
      return ''
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += within(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += within(text)
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128, stdout, stderr: signal ? `${stderr} (${signal})` : stderr }),
    )
  })
}

/** Runs a program and returns its standard output. Throws {@link CommandFailed} unless the exit code is 0. */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await tryCommand(program, args, options)
  if (result.code !== 0) throw new CommandFailed(program, args, result)
  return result.stdout
}

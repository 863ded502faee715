/** Runs a host program with its arguments as a list, never through a shell. */
import { spawn } from 'node:child_process'

export type CommandResult = { code: number; stdout: string; stderr: string }

/** A program that ended with a code other than 0; its standard error is in the message. */
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
  /** A program that prints more is killed. */
  outputBytesMax?: number
}

/** Runs to the end and answers the result, whatever the exit code. Rejects when the program cannot be started. */
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
    let stdout = ''
    let stderr = ''
    let printedBytes = 0
    /** What is kept of a piece of output; nothing of one that is beyond the limit. */
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
    child.once('error', reject)
    child.once('close', (code, signal) =>
      resolve({ code: code ?? 128, stdout, stderr: signal ? `${stderr} (${signal})` : stderr }),
    )
  })
}

/** Runs to the end and answers standard output. Throws {@link CommandFailed} unless the exit code is 0. */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await tryCommand(program, args, options)
  if (result.code !== 0) throw new CommandFailed(program, args, result)
  return result.stdout
}

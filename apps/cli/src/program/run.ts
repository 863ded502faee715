/** Runs one call of the command line from its words to its exit code. */
import { Output } from '../output/output.ts'
import { brokenPipeExitCode, isBrokenPipe } from './broken-pipe.ts'
import type { Command } from './command.ts'
import { Context, type Environment } from './context.ts'
import { exitCodeAroundCommand, exitCodeOf, exitCodes } from './exit-codes.ts'
import { codeOf, SignInFirst } from './failures.ts'
import { helpText } from './help.ts'
import { type Parsed, parseCommandLine } from './parse-command-line.ts'
import { refuseLostBytes } from './refuse-lost-bytes.ts'

/** Known before the line is parsed, so that also a wrong line is reported as asked for. */
const isAsked = (words: readonly string[], ...names: string[]): boolean => {
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).some((word) => names.includes(word))
}

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error as { cause?: { code?: unknown; message?: unknown; cause?: { code?: unknown } } }
  const reason = cause?.cause?.code ?? cause?.code
  return typeof reason === 'string' ? `${error.message} (${reason})` : error.message
}

const signInHint = (error: unknown): string =>
  (error as { status?: unknown }).status === 401 && !(error instanceof SignInFirst)
    ? ' Sign in again: dock login'
    : ''

const exitCodeOfResult = (result: unknown): number => (typeof result === 'number' ? result : exitCodes.ok)

/** Returns the exit code. */
export async function run(
  commands: readonly Command[],
  words: readonly string[],
  { env, cwd, version }: { env: Environment; cwd: string; version: string },
): Promise<number> {
  let output = new Output({
    stdout: process.stdout,
    stderr: process.stderr,
    env,
    isJson: isAsked(words, '--json'),
    isQuiet: isAsked(words, '-q', '--quiet'),
  })
  let parsed: Parsed | undefined
  try {
    parsed = parseCommandLine(commands, words)
    if (parsed.kind === 'version') {
      output.result({ version }, () => output.line(version))
      return exitCodes.ok
    }
    if (parsed.kind === 'help') {
      process.stdout.write(helpText(commands, parsed.path))
      return exitCodes.ok
    }
    await refuseLostBytes(words)
    const { command, input } = parsed
    output = new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      env,
      isJson: input.has('json'),
      isQuiet: input.has('quiet'),
    })
    process.once('exit', () => output.clear())
    return exitCodeOfResult(await command.run(new Context(output, env, cwd, input), input))
  } catch (error) {
    if (isBrokenPipe(error)) return brokenPipeExitCode
    const isAround = parsed?.kind === 'run' && parsed.command.isAroundCommand === true
    const exitCode = isAround ? exitCodeAroundCommand(error) : exitCodeOf(error)
    output.failure(codeOf(error), messageOf(error) + signInHint(error), exitCode)
    return exitCode
  }
}

/** Runs one command line from its words to the exit of the process. */
import { commands } from './commands.ts'
import { run } from './program/run.ts'
import { version } from './version.ts'

/** Runs the command that `words` name, and ends the process with its exit code. */
export async function runProgram(words: string[]): Promise<never> {
  // A reader such as `head` may leave early. Commands in Docks handle it themselves, because they have to be ended.
  process.stdout.on('error', () => {
    if (process.stdout.listenerCount('error') === 1) process.exit(141)
  })
  // Remarks that nobody reads are no failure.
  process.stderr.on('error', () => undefined)
  const code = await run(commands, words, { env: process.env, cwd: process.cwd(), version })
  // What was written must arrive before the end, also in a pipe.
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  await Promise.all(flushed)
  process.exit(code)
}

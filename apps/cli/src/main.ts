#!/usr/bin/env node
/** The program `dock`. */
import { version } from './version.ts'

const words = process.argv.slice(2)
if (words.length === 1 && words[0] === '--version') process.stdout.write(`${version}\n`)
else {
  // A reader such as `head` may leave early. Commands in Docks handle it themselves, because they have to be ended.
  process.stdout.on('error', () => {
    if (process.stdout.listenerCount('error') === 1) process.exit(141)
  })
  // Remarks that nobody reads are no failure.
  process.stderr.on('error', () => undefined)
  // Loaded only now, so that the version is there at once.
  const [{ run }, { commands }] = await Promise.all([import('./program/run.ts'), import('./commands.ts')])
  const code = await run(commands, words, { env: process.env, cwd: process.cwd(), version })
  // What was written must arrive before the end, also in a pipe.
  const flushed = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  )
  await Promise.all(flushed)
  process.exit(code)
}

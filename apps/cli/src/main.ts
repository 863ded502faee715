#!/usr/bin/env node
/** The program `dock`. The version is there at once: everything else is loaded only when a command runs. */
import { version } from './version.ts'

const words = process.argv.slice(2)
if (words.length === 1 && words[0] === '--version') process.stdout.write(`${version}\n`)
else {
  const { runProgram } = await import('./run-program.ts')
  await runProgram(words)
}

/**
 * The program of script/admin: what an operator does directly on the control plane's database. It needs no server, and a
 * running server picks the changes up. With `--check` in front it only checks the words, which needs no database.
 */
import { runOnDatabase } from './run-on-database.ts'
import type { Verb } from './verb.ts'
import { verbs } from './verbs.ts'

const list = (): string =>
  [
    'usage: script/admin VERB ...',
    '',
    ...[...verbs].map(([name, { summary }]) => `  ${name.padEnd(22)}${summary}`),
    '',
    'script/admin VERB --help shows the words of a verb.',
  ].join('\n')

const usageOf = (name: string, { usage }: Verb): string => `usage: script/admin ${`${name} ${usage}`.trim()}`

/** Prints a mistake in the words, and sets the exit code for it. */
const refuse = (sentence: string): void => {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 2
}

const run = async ([name, ...words]: readonly string[], isCheck: boolean): Promise<void> => {
  if (name === undefined || name === '--help') {
    process.stdout.write(`${list()}\n`)
    return
  }
  const verb = verbs.get(name)
  if (!verb) return refuse(`admin: there is no verb ${name}. Run script/admin to list the verbs.`)
  if (words.includes('--help')) {
    process.stdout.write(`${usageOf(name, verb)}\n${verb.summary}\n`)
    return
  }
  const work = verb.read(words)
  if (!work) return refuse(usageOf(name, verb))
  if (!isCheck) await runOnDatabase(name, work)
}

const words = process.argv.slice(2)
const isCheck = words[0] === '--check'
await run(isCheck ? words.slice(1) : words, isCheck)

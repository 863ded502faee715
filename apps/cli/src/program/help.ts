/** Help, from the tables of the commands. */
import { type Command, type Flag, globalFlags, usageOf } from './command.ts'

const flagLabel = ({ name, short, value }: Flag): string =>
  `${short ? `-${short}, ` : '    '}--${name}${value ? ` ${value}` : ''}`

const aligned = (pairs: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(0, ...pairs.map(([label]) => label.length))
  return pairs.map(([label, about]) => `  ${label.padEnd(width)}  ${about}`)
}

const flagLines = (flags: readonly Flag[]): string[] =>
  aligned(
    flags.map((flag) => [
      flagLabel(flag),
      flag.choices ? `${flag.about} (${flag.choices.join(', ')})` : flag.about,
    ]),
  )

const commandHelp = (command: Command): string[] => [
  command.summary,
  ...(command.details ? ['', command.details] : []),
  '',
  'Usage:',
  `  ${usageOf(command)}`,
  ...(command.flags?.length ? ['', 'Flags:', ...flagLines(command.flags)] : []),
  '',
  'Flags of every command:',
  ...flagLines(globalFlags),
  ...(command.examples?.length ? ['', 'Examples:', ...command.examples.map((line) => `  ${line}`)] : []),
]

/** Returns the commands below a path, each as the words behind it. */
const listOf = (commands: readonly Command[], path: readonly string[]): string[] => {
  const below = commands.filter((each) => path.every((word, at) => each.path[at] === word))
  if (path.length > 0) return aligned(below.map((each) => [usageOf(each).slice(5), each.summary]))
  const groups = new Map<string, Command[]>()
  for (const command of below)
    groups.set(command.path[0]!, [...(groups.get(command.path[0]!) ?? []), command])
  return aligned(
    [...groups].map(([word, [first, ...more]]) => [
      word,
      more.length === 0 && first!.path.length === 1
        ? first!.summary
        : [first!, ...more]
            .map((each) => each.path.slice(1).join(' '))
            .filter(Boolean)
            .join(', '),
    ]),
  )
}

/** Returns the help for a command, a group of commands, or all of `dock`. */
export function helpText(all: readonly Command[], path: readonly string[]): string {
  const commands = all.filter((each) => !each.isHidden)
  const command = commands.find((each) => each.path.join(' ') === path.join(' '))
  if (command) return `${commandHelp(command).join('\n')}\n`
  const whole = ['dock', ...path].join(' ')
  return `${[
    path.length === 0 ? 'Isolated Linux machines on demand.' : `Commands of ${whole}.`,
    '',
    'Usage:',
    `  ${whole} COMMAND [ARGUMENTS] [FLAGS]`,
    '',
    'Commands:',
    ...listOf(commands, path),
    '',
    'Flags of every command:',
    ...flagLines(globalFlags),
    '',
    `More about a command: ${whole} COMMAND --help`,
  ].join('\n')}\n`
}

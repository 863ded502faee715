/** What completion offers for a line. */
import { cleanText } from '../output/clean-text.ts'
import { type ArgumentKind, type Command, type Flag, globalFlags } from './command.ts'

/** Returns the names of a kind, for example of all Docks. */
export type NamesOf = (kind: ArgumentKind) => Promise<readonly string[]>

const flagOf = (flags: readonly Flag[], word: string): Flag | undefined =>
  flags.find(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`))

/** Returns the words that are arguments: not flags, nor their values. */
const argumentsOf = (words: readonly string[], flags: readonly Flag[]): string[] => {
  const found: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (!word.startsWith('-')) found.push(word)
    else if (flagOf(flags, word)?.value !== undefined) at += 1
  }
  return found
}

const candidatesFor = async (
  command: Command,
  before: readonly string[],
  current: string,
  namesOf: NamesOf,
) => {
  const flags = [...globalFlags, ...(command.flags ?? [])]
  const last = flagOf(flags, before.at(-1) ?? '')
  if (last?.value !== undefined) return last.choices ?? last.offers ?? []
  if (current.startsWith('-')) return flags.map(({ name }) => `--${name}`)
  const { args = [] } = command
  const position = argumentsOf(before, flags).length
  const argument = args[position] ?? (args.at(-1)?.isMany ? args.at(-1) : undefined)
  if (!argument?.kind || argument.kind === 'file' || argument.kind === 'text') return []
  if (argument.kind !== 'place') return namesOf(argument.kind)
  return current.includes(':') ? [] : (await namesOf('dock')).map((name) => `${name}:`)
}

/** Returns what the last word may become. The words are those behind `dock`; the last one may be empty. */
export async function complete(
  commands: readonly Command[],
  words: readonly string[],
  namesOf: NamesOf,
): Promise<string[]> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  if (before.includes('--')) return []
  const path = argumentsOf(before, globalFlags)
  const command = commands.find((each) => each.path.every((word, at) => path[at] === word))
  let candidates: readonly string[]
  if (command) {
    const behind = before.slice(before.indexOf(command.path.at(-1)!) + 1)
    candidates = await candidatesFor(command, behind, current, namesOf)
  } else if (current.startsWith('-')) candidates = globalFlags.map(({ name }) => `--${name}`)
  else {
    const below = commands.filter(
      (each) => !each.isHidden && path.every((word, at) => each.path[at] === word),
    )
    candidates = below.flatMap((each) => each.path[path.length] ?? [])
  }
  // A line of the list is one word, so what contains a control character cannot be offered.
  return [...new Set(candidates)].filter((each) => each.startsWith(current) && cleanText(each) === each)
}

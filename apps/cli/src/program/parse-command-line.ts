/** Finds the command that is called, and parses its flags and arguments. */
import { parseArgs } from 'node:util'
import { suggestion } from './closest-name.ts'
import { type Command, type Flag, globalFlags, usageOf } from './command.ts'
import { UsageError } from './failures.ts'
import { type FlagValue, Input } from './input.ts'

/** `help` names the words before it: a command, a group such as `snapshot`, or nothing. */
export type Parsed =
  | { kind: 'run'; command: Command; input: Input }
  | { kind: 'help'; path: readonly string[] }
  | { kind: 'version' }

type Token = ReturnType<typeof tokensOf>[number]

const tokensOf = (words: readonly string[], flags: readonly Flag[]) =>
  parseArgs({
    args: [...words],
    options: Object.fromEntries(
      flags.map(({ name, short, value }) => [
        name,
        { type: value ? ('string' as const) : ('boolean' as const), ...(short ? { short } : {}) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens

const isAt = (command: Command, path: readonly string[]): boolean =>
  path.every((word, at) => command.path[at] === word)

/** Returns the longest path of words that begins a command. Flags of every command may stand before and between. */
const findPath = (commands: readonly Command[], tokens: readonly Token[]): Token[] => {
  const found: Token[] = []
  for (const token of tokens) {
    if (token.kind === 'option-terminator') break
    if (token.kind !== 'positional') continue
    const path = [...found, token].map((each) => (each as { value: string }).value)
    if (!commands.some((command) => isAt(command, path))) break
    found.push(token)
    if (commands.some((command) => command.path.length === path.length && isAt(command, path))) break
  }
  return found
}

const unknownCommand = (commands: readonly Command[], path: readonly string[], word: string | undefined) => {
  const next = [
    ...new Set(commands.filter((each) => isAt(each, path)).map((each) => each.path[path.length]!)),
  ]
  const whole = ['dock', ...path].join(' ')
  if (word === undefined)
    return new UsageError(`${whole} needs a verb: ${next.join(', ')}. See ${whole} --help.`)
  const port = path[0] === 'port' ? ` To expose a port, write: dock port expose ${word} 3000.` : ''
  return new UsageError(
    `There is no command "${[...path, word].join(' ')}".${suggestion(word, next)}${port} See ${whole} --help.`,
  )
}

const flagError = (token: Token & { kind: 'option' }, flags: readonly Flag[], command: string): string => {
  const flag = flags.find(({ name }) => name === token.name)
  if (!flag) {
    const names = flags.map(({ name }) => `--${name}`)
    return `There is no flag ${token.rawName}.${suggestion(token.rawName, names)} See ${command} --help.`
  }
  if (!flag.value) return `${token.rawName} takes no value.`
  return `${token.rawName} needs a value: ${flag.value}.`
}

const readFlags = (
  tokens: readonly Token[],
  flags: readonly Flag[],
  command: string,
): Map<string, FlagValue> => {
  const values = new Map<string, FlagValue>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const flag = flags.find(({ name }) => name === token.name)
    if (!flag || (flag.value === undefined) !== (token.value === undefined))
      throw new UsageError(flagError(token, flags, command))
    if (token.value === undefined) {
      values.set(flag.name, true)
      continue
    }
    // `--name -x` is nearly always a forgotten value.
    if (
      !token.inlineValue &&
      /^-./.test(token.value) &&
      flags.some(({ name }) => token.value === `--${name}`)
    )
      throw new UsageError(`${token.rawName} needs a value: ${flag.value}.`)
    if (flag.choices && !flag.choices.includes(token.value))
      throw new UsageError(
        `${token.rawName} must be ${flag.choices.join(', ')}.${suggestion(token.value, flag.choices)}`,
      )
    const before = values.get(flag.name)
    values.set(flag.name, [...(Array.isArray(before) ? before : []), token.value])
  }
  return values
}

/** Splits the words of a command with a remote command: what belongs to it, and what to run in the Dock. */
const splitAtCommand = (tokens: readonly Token[], words: readonly string[], argumentsMax: number) => {
  let seen = 0
  for (const token of tokens) {
    if (token.kind === 'option-terminator')
      return { tokens: tokens.filter(({ index }) => index < token.index), rest: words.slice(token.index + 1) }
    if (token.kind !== 'positional') continue
    if (seen < argumentsMax) {
      seen += 1
      continue
    }
    return { tokens: tokens.filter(({ index }) => index < token.index), rest: words.slice(token.index) }
  }
  return { tokens, rest: [] as string[] }
}

const inputOf = (
  command: Command,
  tokens: readonly Token[],
  words: readonly string[],
  flags: readonly Flag[],
) => {
  const { args = [] } = command
  const usage = usageOf(command)
  // Behind the Dock's name, a flag belongs to the remote command.
  const remote = command.takesCommand ? splitAtCommand(tokens, words, args.length) : { tokens, rest: [] }
  const values = readFlags(remote.tokens, flags, ['dock', ...command.path].join(' '))
  const given = remote.tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const named = new Map<string, string>()
  const rest = [...remote.rest]
  for (const [at, { name, isOptional, isMany }] of args.entries()) {
    const value = given[at]
    if (value === undefined && !isOptional && !values.has('help'))
      throw new UsageError(`${name} is missing. Write: ${usage}`)
    if (isMany) rest.push(...given.slice(at))
    if (value !== undefined) named.set(name, value)
  }
  if (given.length > args.length && !args.at(-1)?.isMany)
    throw new UsageError(`${JSON.stringify(given[args.length])} is too much. Write: ${usage}`)
  return new Input(named, values, rest)
}

/** Parses the words behind `dock`. Throws a UsageError that says what to write instead. */
export function parseCommandLine(commands: readonly Command[], words: readonly string[]): Parsed {
  const first = tokensOf(words, globalFlags)
  const pathTokens = findPath(commands, first)
  const path = pathTokens.map((token) => (token as { value: string }).value)
  const command = commands.find((each) => each.path.length === path.length && isAt(each, path))
  const begin = pathTokens[0]?.index ?? words.length
  const isAsked = (name: string): boolean =>
    first.some((token) => token.kind === 'option' && token.name === name && (!command || token.index < begin))
  if (!command || path.length === 0) {
    const next = first.find((token) => token.kind === 'positional' && !pathTokens.includes(token))
    const word = next?.kind === 'positional' ? next.value : undefined
    if (isAsked('version') && path.length === 0) return { kind: 'version' }
    if (isAsked('help') || word === 'help') return { kind: 'help', path }
    if (path.length === 0 && word === undefined) {
      readFlags(first, globalFlags, 'dock')
      return { kind: 'help', path }
    }
    throw unknownCommand(commands, path, word)
  }
  if (isAsked('help')) return { kind: 'help', path }
  const flags = [...globalFlags, ...(command.flags ?? [])]
  const own = pathTokens.map(({ index }) => index)
  const ownWords = words.filter((_, index) => !own.includes(index))
  const input = inputOf(command, tokensOf(ownWords, flags), ownWords, flags)
  return input.has('help') ? { kind: 'help', path } : { kind: 'run', command, input }
}

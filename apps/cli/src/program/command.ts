/** What a command is. Help, completion and docs/cli.md are derived from these tables. */
import type { Context } from './context.ts'
import type { Input } from './input.ts'

export type Flag = {
  name: string
  short?: string
  /** Shown for the value, for example `SIZE`. A flag without it is on or off. */
  value?: string
  /** The flag may be given several times. */
  isMany?: true
  about: string
  choices?: readonly string[]
  /** Values that completion offers, if they are too many for the help. */
  offers?: readonly string[]
}

/** What completion offers for an argument. */
export type ArgumentKind = 'dock' | 'file' | 'place' | 'template' | 'environment' | 'run' | 'shell' | 'text'

export type Argument = {
  /** In capitals, for example `DOCK`. */
  name: string
  kind?: ArgumentKind
  isOptional?: true
  isMany?: true
}

export type Command = {
  /** `['snapshot', 'ls']` is called as `dock snapshot ls`. */
  path: readonly string[]
  summary: string
  /** More sentences for the command's own help. */
  details?: string
  args?: readonly Argument[]
  flags?: readonly Flag[]
  examples?: readonly string[]
  /** Neither shown nor completed. */
  isHidden?: true
  /** What follows the arguments is a command for the Dock, with flags of its own. */
  takesCommand?: true
  /** A failure of the service is 255, as in ssh. */
  isAroundCommand?: true
  /** Returns the exit code if it is a number. */
  run(context: Context, input: Input): Promise<unknown>
}

/** Flags of every command. */
export const globalFlags: readonly Flag[] = [
  { name: 'json', about: 'print the result as JSON on stdout, and errors as JSON on stderr' },
  { name: 'quiet', short: 'q', about: 'print only what is needed: ids in lists, no progress, no remarks' },
  { name: 'yes', short: 'y', about: 'answer questions with yes' },
  { name: 'no-input', about: 'never ask: a question is an error' },
  { name: 'profile', value: 'NAME', about: 'use this profile of the configuration' },
  { name: 'help', short: 'h', about: 'show help' },
]

/** Returns how the command is called, for example `dock cp FROM TO`. */
export function usageOf({ path, args = [], takesCommand }: Command): string {
  const words = args.map(({ name, isOptional, isMany }) => {
    const word = isMany ? `${name}…` : name
    return isOptional ? `[${word}]` : word
  })
  return ['dock', ...path, ...words, ...(takesCommand ? ['[--] COMMAND…'] : [])].join(' ')
}

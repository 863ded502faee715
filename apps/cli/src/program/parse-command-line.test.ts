import { describe, expect, it } from 'vitest'
import { commands } from '../commands.ts'
import type { Command } from './command.ts'
import { parseCommandLine } from './parse-command-line.ts'

const run = async (): Promise<void> => undefined
const some: readonly Command[] = [
  {
    path: ['ls'],
    summary: '',
    run,
    flags: [{ name: 'state', value: 'STATE', about: '', choices: ['ready', 'idle'] }],
  },
  {
    path: ['exec'],
    summary: '',
    run,
    args: [{ name: 'DOCK', isOptional: true }],
    takesCommand: true,
    flags: [{ name: 'tty', short: 't', about: '' }],
  },
  { path: ['port', 'ls'], summary: '', run, args: [{ name: 'DOCK' }] },
  { path: ['port', 'expose'], summary: '', run, args: [{ name: 'DOCK' }, { name: 'PORT' }] },
  { path: ['rm'], summary: '', run, args: [{ name: 'DOCK', isMany: true }] },
]

const parse = (line: string) => parseCommandLine(some, line === '' ? [] : line.split(' '))
const parsed = (line: string) => {
  const result = parse(line)
  if (result.kind !== 'run') throw new Error(`this is ${result.kind}`)
  return result
}

describe('a line', () => {
  it('has flags of all commands before and behind the command', () => {
    for (const line of ['--json port ls web', 'port --json ls web', 'port ls web --json']) {
      const { command, input } = parsed(line)
      expect([command.path.join(' '), input.arg('DOCK'), input.has('json')]).toEqual(['port ls', 'web', true])
    }
    expect(parsed('--profile work ls').input.text('profile')).toBe('work')
  })

  it('leaves the flags of a remote command alone', () => {
    for (const line of ['exec -t web npm test -t --json', 'exec -t web -- npm test -t --json']) {
      const { input } = parsed(line)
      expect([input.arg('DOCK'), input.rest, input.has('tty'), input.has('json')]).toEqual([
        'web',
        ['npm', 'test', '-t', '--json'],
        true,
        false,
      ])
    }
    const { input } = parsed('exec -- ls -l')
    expect([input.optional('DOCK'), input.rest]).toEqual([undefined, ['ls', '-l']])
    expect(parsed('exec web -- sh -- -x').input.rest).toEqual(['sh', '--', '-x'])
  })

  it('takes many arguments where it may', () => {
    expect(parsed('rm a b').input.rest).toEqual(['a', 'b'])
  })

  it.each([
    ['', []],
    ['help', []],
    ['--help', []],
    ['port --help', ['port']],
    ['port ls --help', ['port', 'ls']],
    ['--help ls', ['ls']],
  ])('asks for help: %s', (line, path) => {
    expect(parse(line)).toEqual({ kind: 'help', path })
  })
})

describe('a wrong line', () => {
  it.each([
    ['lss', 'There is no command "lss". Did you mean "ls"?'],
    ['port web 3000', 'write: dock port expose web 3000'],
    ['port', 'dock port needs a verb: ls, expose.'],
    ['--bogus', 'There is no flag --bogus. See dock --help.'],
    ['--profile', '--profile needs a value: NAME.'],
    ['ls --jsn', 'There is no flag --jsn. Did you mean "--json"?'],
    ['ls --state', '--state needs a value: STATE.'],
    ['ls --state=redy', '--state must be ready, idle. Did you mean "ready"?'],
    ['ls --json=1', '--json takes no value.'],
    ['ls a', '"a" is too much. Write: dock ls'],
    ['port expose web', 'PORT is missing. Write: dock port expose DOCK PORT'],
    ['rm', 'DOCK is missing.'],
  ])('%s', (line, message) => {
    expect(() => parse(line)).toThrow(message)
  })
})

it('has commands that tell themselves apart', () => {
  const paths = commands.map(({ path }) => path.join(' '))
  expect(new Set(paths).size).toBe(paths.length)
  for (const { path, flags = [] } of commands) {
    expect(parseCommandLine(commands, [...path, '--help']), path.join(' ')).toEqual({ kind: 'help', path })
    expect(new Set(flags.map(({ name }) => name)).size).toBe(flags.length)
  }
})

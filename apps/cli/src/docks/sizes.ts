/** Sizes, times and variables as flags write them. */
import { readFile } from 'node:fs/promises'
import type { Flag } from '../program/command.ts'
import { LocalError, UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'

export const sizeFlags: readonly Flag[] = [
  { name: 'cpus', value: 'N', about: 'processors' },
  { name: 'memory', value: 'SIZE', about: 'memory, for example 4G or 512M' },
  { name: 'disk', value: 'SIZE', about: 'disk, for example 20G' },
  { name: 'ttl', value: 'TIME', about: 'stop it after this time, for example 45m, 8h or 2d; none: never' },
]

type Range = { min: number; max: number; words: string }

/** What the service takes, so that a wrong line is refused in the words of its flags. A test compares them with the contract. */
export const ranges = {
  cpus: { min: 1, max: 64, words: '1 to 64' },
  memoryMiB: { min: 512, max: 262_144, words: '512M to 256G' },
  diskGiB: { min: 1, max: 2048, words: '1G to 2T' },
  ttlSeconds: { min: 60, max: 2_592_000, words: '1m to 30d, or none' },
  timeoutSeconds: { min: 1, max: 2_592_000, words: '1s to 30d' },
} as const

/** Returns the value if it is in the range. */
const within = (flag: string, value: number, { min, max, words }: Range): number => {
  if (value < min || value > max) throw new UsageError(`--${flag} must be ${words}.`)
  return value
}

const factors = { m: 1, g: 1024, t: 1024 * 1024 } as const

/** Returns mebibytes for `4G`, `512M` or `512MiB`. */
const mebibytesOf = (flag: string, text: string): number => {
  const [, digits, unit] = /^(\d{1,7}(?:\.\d{1,3})?)\s*([mgt])(?:i?b)?$/i.exec(text) ?? []
  const value = Number(digits) * factors[(unit?.toLowerCase() ?? 'm') as keyof typeof factors]
  if (digits === undefined || !Number.isInteger(value))
    throw new UsageError(`--${flag} needs a size such as 4G or 512M, not ${JSON.stringify(text)}.`)
  return value
}

const seconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Returns seconds for `90s`, `45m`, `8h` or `2d`, if they are in the range. */
export function secondsOf(flag: string, text: string, range?: Range): number {
  const [, digits, unit] = /^(\d{1,8})([smhd])$/.exec(text) ?? []
  if (digits === undefined)
    throw new UsageError(`--${flag} needs a time such as 45m, 8h or 2d, not ${JSON.stringify(text)}.`)
  const value = Number(digits) * seconds[unit as keyof typeof seconds]
  return range ? within(flag, value, range) : value
}

export type Sizes = { cpus?: number; memoryMiB?: number; diskGiB?: number; ttlSeconds?: number | null }

/** Returns the sizes that are given. */
export function readSizes(input: Input): Sizes {
  const [cpus, memory, disk, ttl] = [
    input.integer('cpus'),
    input.text('memory'),
    input.text('disk'),
    input.text('ttl'),
  ]
  const diskMiB = disk === undefined ? undefined : mebibytesOf('disk', disk)
  if (diskMiB !== undefined && diskMiB % 1024 !== 0)
    throw new UsageError('--disk needs whole gibibytes, for example 20G.')
  return {
    ...(cpus === undefined ? {} : { cpus: within('cpus', cpus, ranges.cpus) }),
    ...(memory === undefined
      ? {}
      : { memoryMiB: within('memory', mebibytesOf('memory', memory), ranges.memoryMiB) }),
    ...(diskMiB === undefined ? {} : { diskGiB: within('disk', diskMiB / 1024, ranges.diskGiB) }),
    ...(ttl === undefined
      ? {}
      : { ttlSeconds: ttl === 'none' ? null : secondsOf('ttl', ttl, ranges.ttlSeconds) }),
  }
}

export const variableFlag: Flag = {
  name: 'env',
  short: 'e',
  value: 'NAME=VALUE',
  isMany: true,
  about: 'set a variable; NAME alone takes the value from your own environment',
}

/** Returns the variables of `--env`. */
export function readVariables(
  input: Input,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const entries = input.list('env').map((text): [string, string] => {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    const value = at < 0 ? env[name] : text.slice(at + 1)
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw new UsageError(`--env needs NAME=VALUE, not ${JSON.stringify(text)}.`)
    if (value === undefined) throw new UsageError(`--env ${name}: your own environment has no ${name}.`)
    return [name, value]
  })
  return Object.fromEntries(entries)
}

/** Returns the text of the file that a flag names, `-` being standard input. */
export async function readTextFile(path: string): Promise<string> {
  if (path !== '-')
    return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new LocalError(
        'local_file',
        `There is no file ${JSON.stringify(path)} that can be read (${error.code}). Give the name of a file, or - to read standard input.`,
      )
    })
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The programs that run in a Dock, and the arguments that start them. */
import { readFileSync } from 'node:fs'

const source = (name: string): string =>
  readFileSync(new URL(`./programs/${name}.pl`, import.meta.url), 'utf8')

const shared = source('shared')
const upload = source('upload')

const programs = {
  read: shared + source('read'),
  write: shared + upload + source('write'),
  unpack: shared + upload + source('unpack'),
  list: shared + source('list'),
  change: shared + source('change'),
  watch: shared + source('watch'),
} as const

export type ProgramName = keyof typeof programs

/**
 * Returns the arguments of a process. The program itself contains no data, and data is hexadecimal, so that bytes which
 * are not UTF-8 pass the JSON of the host link. The interpreter takes `--` as the end of its own options.
 */
export function argvOf(
  name: ProgramName,
  args: readonly (string | number | boolean | Uint8Array)[],
): string[] {
  const texts = args.map((each) => (typeof each === 'boolean' ? (each ? '1' : '') : each))
  const bytes = texts.map((each) => (each instanceof Uint8Array ? Buffer.from(each) : Buffer.from(`${each}`)))
  return ['/usr/bin/perl', '-e', programs[name], '--', ...bytes.map((each) => each.toString('hex'))]
}

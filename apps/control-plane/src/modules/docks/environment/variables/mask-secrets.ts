/** Takes what is secret out of a text that people will read. */
import { maskApiKeys } from '../../../keys/index.ts'

export type Secrets = {
  /** Values of variables. */
  readonly variables: readonly string[]
  /** Contents of secret files. */
  readonly files: readonly string[]
}

/** Shorter values are words of every text: masking them would hide what went wrong, and they are no secrets. */
const lengthMin = 4
/** A file has many lines that are no secrets. */
const fileLineLengthMin = 8

const linesOf = (text: string): string[] => text.split(/[\r\n]+/).map((line) => line.trim())

/** A file's lines, and what stands behind `KEY=` or `key:` in them, with and without its quotation marks. */
const fileSecrets = (contents: string): string[] =>
  linesOf(contents).flatMap((line) => {
    const value = /^[\w."'-]+\s*[=:]\s*(.+?),?$/.exec(line)?.[1] ?? ''
    const bare = value.replace(/^(["'])(.*)\1$/, '$2')
    return [line.length < fileLineLengthMin ? '' : line, value, bare]
  })

/** The text with `***` for every value, every line of a value of several lines, and every API key of the service. */
export function maskSecrets(text: string, { variables, files }: Secrets): string {
  const secrets = [...variables.flatMap((value) => [value, ...linesOf(value)]), ...files.flatMap(fileSecrets)]
  // The longest first: one may hold another.
  const ordered = [...new Set(secrets)]
    .filter((secret) => secret.length >= lengthMin)
    .sort((a, b) => b.length - a.length)
  return ordered.reduce((masked, secret) => masked.replaceAll(secret, '***'), maskApiKeys(text, '***'))
}

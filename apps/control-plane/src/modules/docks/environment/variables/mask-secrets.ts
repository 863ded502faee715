/** Masks secrets in a text that is shown to people. */
import { maskApiKeys } from '../../../keys/index.ts'

export type Secrets = {
  /** Values of variables. */
  readonly variables: readonly string[]
  /** Contents of secret files. */
  readonly files: readonly string[]
}

/** Shorter values are not masked: they occur in any text, masking them would hide the error, and they are no secrets. */
const lengthMin = 4
/** Shorter lines of files are not masked, because most lines of a file are no secrets. */
const fileLineLengthMin = 8

const linesOf = (text: string): string[] => text.split(/[\r\n]+/).map((line) => line.trim())

/** Returns a file's lines, and the values after `KEY=` or `key:` in them, with and without quotation marks. */
const fileSecrets = (contents: string): string[] =>
  linesOf(contents).flatMap((line) => {
    const value = /^[\w."'-]+\s*[=:]\s*(.+?),?$/.exec(line)?.[1] ?? ''
    const bare = value.replace(/^(["'])(.*)\1$/, '$2')
    return [line.length < fileLineLengthMin ? '' : line, value, bare]
  })

/** Replaces every value, every line of a multi-line value, and every API key of this service with `***`. */
export function maskSecrets(text: string, { variables, files }: Secrets): string {
  const secrets = [...variables.flatMap((value) => [value, ...linesOf(value)]), ...files.flatMap(fileSecrets)]
  // The longest first, because one secret may contain another.
  const ordered = [...new Set(secrets)]
    .filter((secret) => secret.length >= lengthMin)
    .sort((a, b) => b.length - a.length)
  return ordered.reduce((masked, secret) => masked.replaceAll(secret, '***'), maskApiKeys(text, '***'))
}

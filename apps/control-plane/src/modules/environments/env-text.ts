/**
 * KEY=value lines. The grammar, line by line:
 *
 *   file    = { blank | comment | entry }
 *   comment = spaces "#" anything
 *   entry   = spaces [ "export " ] KEY spaces "=" spaces value
 *   value   = double | single | plain
 *   double  = '"' … '"'   \n \r \t \" \\ \$ are escapes, any other backslash stands for itself; line breaks belong to it
 *   single  = "'" … "'"   taken as it is; line breaks belong to it
 *   plain   = the rest of the line up to " #", without spaces at its ends
 *
 * What {@link formatEnv} writes, {@link parseEnv} reads back as it was.
 */
import { isReservedVariableName, ServiceError, variableName } from '@dock/contract'

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  $: '$',
}
const entryStart = /^[ \t]*(?:export[ \t]+)?([^=\s#]+)[ \t]*=[ \t]*/

const refuse = (line: number, message: string): never => {
  throw new ServiceError('validation_error', { message: `envContents: line ${line}: ${message}` })
}

const unescaped = (text: string): string =>
  text.replace(/\\([nrt"\\$])/g, (_, letter: string) => escapes[letter] ?? letter)

/** Position of the quote that ends a value which begins at `start`; -1 when none does. */
const endOfQuoted = (text: string, start: number, quote: string): number => {
  for (let at = start; at < text.length; at++) {
    if (text[at] === quote) return at
    if (quote === '"' && text[at] === '\\') at++
  }
  return -1
}

const checkedName = (name: string, line: number): string => {
  if (isReservedVariableName(name)) refuse(line, `${name} is reserved by the platform.`)
  if (!variableName.safeParse(name).success)
    refuse(line, 'the name must start with a letter or _ and hold only letters, digits and _.')
  return name
}

/** The variables of the text; a later entry of a name wins. Throws `validation_error` naming the line. */
export function parseEnv(given: string): Record<string, string> {
  const text = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const variables: Record<string, string> = {}
  let at = 0
  let line = 1
  const advance = (to: number): void => {
    for (let each = at; each < to; each++) if (text[each] === '\n') line += 1
    at = to
  }
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at) === -1 ? text.length : text.indexOf('\n', at)
    const whole = text.slice(at, lineEnd)
    if (/^[ \t]*(#|$)/.test(whole)) {
      advance(lineEnd + 1)
      continue
    }
    const start = entryStart.exec(whole) ?? refuse(line, 'must be KEY=value.')
    const name = checkedName(start[1] ?? '', line)
    const valueAt = at + start[0].length
    const quote = text[valueAt]
    if (quote === '"' || quote === "'") {
      const end = endOfQuoted(text, valueAt + 1, quote)
      if (end === -1) refuse(line, `the value of ${name} has no closing ${quote}.`)
      const inner = text.slice(valueAt + 1, end)
      const restEnd = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end)
      if (!/^[ \t]*(#.*)?$/.test(text.slice(end + 1, restEnd)))
        refuse(line, `something stands behind the closing ${quote} of ${name}.`)
      variables[name] = quote === '"' ? unescaped(inner) : inner
      advance(restEnd + 1)
    } else {
      variables[name] = whole
        .slice(start[0].length)
        .replace(/(^|[ \t])#.*$/, '')
        .trim()
      advance(lineEnd + 1)
    }
    if (variables[name]?.includes('\0')) refuse(line, `the value of ${name} must not hold a NUL character.`)
  }
  return variables
}

const plain = /^[A-Za-z0-9_./:@%+,=-]*$/

/** One line or more for each variable, sorted by name. */
export function formatEnv(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      if (plain.test(value)) return `${name}=${value}\n`
      const quoted = value.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r')
      return `${name}="${quoted}"\n`
    })
    .join('')
}

/**
 * Parses and formats KEY=value lines. The grammar:
 *
 *   file    = { blank | comment | entry }
 *   comment = spaces "#" anything
 *   entry   = spaces [ "export " ] KEY spaces "=" spaces value
 *   value   = double | single | plain
 *   double  = '"' … '"'   escapes: \n \r \t \" \\ \$; any other backslash is literal; may contain line breaks
 *   single  = "'" … "'"   no escapes; may contain line breaks
 *   plain   = the rest of the line up to " #", with surrounding spaces removed
 *
 * {@link parseEnv} returns exactly the variables that {@link formatEnv} was given.
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

const unescapeValue = (text: string): string =>
  text.replace(/\\([nrt"\\$])/g, (_, letter: string) => escapes[letter] ?? letter)

/** Returns the index of the closing quote of a value that starts at `start`, or -1 if there is none. */
const findClosingQuote = (text: string, start: number, quote: string): number => {
  for (let at = start; at < text.length; at++) {
    if (text[at] === quote) return at
    if (quote === '"' && text[at] === '\\') at++
  }
  return -1
}

const requireValidName = (name: string, line: number): string => {
  if (isReservedVariableName(name)) refuse(line, `${name} is reserved by the platform.`)
  if (!variableName.safeParse(name).success)
    refuse(line, 'the name must start with a letter or _ and contain only letters, digits and _.')
  return name
}

/**
 * Returns the variables of the text. The last entry of a name wins. Throws `validation_error` with the line number. The
 * message never contains a value, because values are secrets.
 */
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
    const name = requireValidName(start[1] ?? '', line)
    const valueAt = at + start[0].length
    const quote = text[valueAt]
    if (quote === '"' || quote === "'") {
      const end = findClosingQuote(text, valueAt + 1, quote)
      if (end === -1) refuse(line, `the value of ${name} has no closing ${quote}.`)
      const inner = text.slice(valueAt + 1, end)
      const restEnd = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end)
      if (!/^[ \t]*(#.*)?$/.test(text.slice(end + 1, restEnd)))
        refuse(line, `unexpected text after the closing ${quote} of ${name}.`)
      variables[name] = quote === '"' ? unescapeValue(inner) : inner
      advance(restEnd + 1)
    } else {
      variables[name] = whole
        .slice(start[0].length)
        .replace(/(^|[ \t])#.*$/, '')
        .trim()
      advance(lineEnd + 1)
    }
    if (variables[name]?.includes('\0'))
      refuse(line, `the value of ${name} must not contain a NUL character.`)
  }
  return variables
}

const plain = /^[A-Za-z0-9_./:@%+,=-]*$/

/** Returns the variables as text, sorted by name. A value with line breaks takes several lines. */
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

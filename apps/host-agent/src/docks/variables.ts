/**
 * A Dock's variables, as a file in the sandbox's memory that shells source. They reach the sandbox through the standard
 * input of a process, and are never on a disk or in the arguments of a process.
 */
import type { DockVariables } from '@dock/host-protocol'

/** The folder in memory. Files in it belong to the Dock user's group, which may read the variables. */
export const variablesFolder = '/run/dock'
export const variablesPath = `${variablesFolder}/variables`

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** A locale of the Dock replaces the platform's, which cannot be told from the same one of the command. */
const dropOurLocale = '[ "$LC_CTYPE" != C.UTF-8 ] || unset LC_CTYPE\n'

/** Returns the content of the file. It sets only variables that the command's own environment does not set. */
export function variablesFile(env: DockVariables): Buffer {
  const lines = Object.entries(env).map(
    ([name, value]) => `[ -n "\${${name}+x}" ] || export ${name}=${quoted(value)}\n`,
  )
  const hasLocale = 'LANG' in env || 'LC_CTYPE' in env
  return Buffer.from([...(hasLocale ? [dropOurLocale] : []), ...lines].join(''))
}

/** A bash function that reads `DOCK_BYTES` bytes of standard input as variables. Builtins only: a fork costs 18 ms. */
export const takeVariables = `
take_variables() {
  local variables='' LC_ALL=C
  # Read by length: bash reads byte by byte when it reads up to a delimiter.
  [ "$DOCK_BYTES" -eq 0 ] || IFS= read -rN "$DOCK_BYTES" variables || return 20
  umask 027
  printf '%s' "$variables" >${variablesPath} || return 21
  umask 022
}
`

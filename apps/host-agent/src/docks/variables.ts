/**
 * A Dock's variables: a file for shells to source, on a file system in the sandbox's memory. They get there through a
 * process's standard input: never onto a disk, nor into any process's arguments.
 */
import type { DockVariables } from '@dock/host-protocol'

/** The folder in memory; what is made in it belongs to the Dock user's group, who may read the variables. */
export const variablesFolder = '/run/dock'
export const variablesPath = `${variablesFolder}/variables`

const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`

/** What a command brought for itself stays: only what is not set is set. */
export function variablesFile(env: DockVariables): Buffer {
  return Buffer.from(
    Object.entries(env)
      .map(([name, value]) => `[ -n "\${${name}+x}" ] || export ${name}=${quoted(value)}\n`)
      .join(''),
  )
}

/** A function of bash: takes `DOCK_BYTES` bytes of standard input for variables. Builtins only: a fork costs 18 ms. */
export const takeVariables = `
take_variables() {
  local variables='' LC_ALL=C
  # By length: up to a delimiter it would be read byte by byte.
  [ "$DOCK_BYTES" -eq 0 ] || IFS= read -rN "$DOCK_BYTES" variables || return 20
  umask 027
  printf '%s' "$variables" >${variablesPath} || return 21
  umask 022
}
`

/**
 * Clients send the locale of their own machine, which the Dock may not have. Every program of the session would then warn,
 * and know no UTF-8. So a locale that is missing in the Dock becomes C.UTF-8. Only a program in the Dock knows which exist.
 */

const localeVariable = /^(LANG|LC_[A-Z]+)$/
/** Locales that every image has. */
const known = /^(C|POSIX|C\.UTF-?8)?$/i

/** `sh script NAME... -- PROGRAM...` replaces the missing locales among the variables and becomes the program. */
const script = `good= bad=
while [ "$1" != -- ]; do
  eval "value=\\$$1"
  if [ "$value" != "$good" ]; then
    if [ "$value" != "$bad" ] && [ -z "$(LC_ALL=$value locale charmap 2>&1 >/dev/null)" ]; then
      good=$value
    else
      bad=$value
      export "$1=C.UTF-8"
    fi
  fi
  shift
done
shift
exec "$@"`

/** Returns the login shell's arguments, preceded by a check of the client's locales if they are no usual ones. */
export function withClientLocale(
  variables: Readonly<Record<string, string>>,
  command: string | undefined,
): [string, ...string[]] | undefined {
  const names = Object.entries(variables).flatMap(([name, value]) =>
    localeVariable.test(name) && !known.test(value) ? [name] : [],
  )
  if (names.length === 0) return undefined
  const shell = command === undefined ? ['-l'] : ['-lc', command]
  return ['/bin/sh', '-c', script, 'sh', ...names, '--', '/bin/bash', ...shell]
}

/**
 * A program on a pseudo-terminal. `script` creates the terminal next to the program and connects it to plain pipes, so
 * that the host needs neither a terminal nor a process for it (decision 019).
 */

/** The program that holds a pseudo-terminal, and its name in the list of processes. */
const holderPath = '/usr/bin/script'
export const ptyHolderName = 'script'

const largestSize = 9999

/** Returns a size that `stty` accepts. */
export function terminalSize(wanted: number): number {
  return Math.min(largestSize, Math.max(1, Math.trunc(wanted) || 1))
}

/** Quotes a word, so that a shell takes it literally. */
const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/**
 * Returns the program and environment of `script` for `argv` on a terminal of this size. `script` starts a shell, which
 * must be the same one whatever SHELL is; the program gets SHELL back.
 */
export function ptyProgram(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { cols, rows }: { cols: number; rows: number },
): { argv: string[]; env: Record<string, string> } {
  const shell = env.SHELL === undefined ? 'unset SHELL' : `SHELL=${quote(env.SHELL)}`
  const size = `/usr/bin/stty cols ${terminalSize(cols)} rows ${terminalSize(rows)}`
  return {
    argv: [
      holderPath,
      ...['--quiet', '--flush', '--return', '--echo', 'always'],
      ...['--command', `${size}; ${shell}; exec ${argv.map(quote).join(' ')}`, '/dev/null'],
    ],
    env: { ...env, SHELL: '/bin/sh' },
  }
}

/**
 * Shell script: resizes the terminal of the program that runs under the `script` of process `$1` to `$2` columns and
 * `$3` rows. It waits until the shell of {@link ptyProgram} has set the first size and become the program: the first size
 * would replace this one. gVisor sends no SIGWINCH after a resize, so every process of the terminal's session is signalled.
 */
export const resizeProgram = `own=() words=()
mapfile -d '' -t own <"/proc/$1/cmdline" || exit 0
for ((left = 250; left > 0; left--)); do
  leader=
  read -r leader _ <"/proc/$1/task/$1/children" || leader=$(/usr/bin/pgrep --oldest --parent "$1")
  if [ -n "$leader" ]; then
    mapfile -d '' -t words <"/proc/$leader/cmdline" || exit 0
    [[ "\${words[*]}" = "\${own[*]}" || "\${words[1]} \${words[2]}" = '-c /usr/bin/stty cols '* ]] || break
  fi
  [ -d "/proc/$1" ] || exit 0
  /usr/bin/sleep 0.02
done 2>/dev/null
[ -n "$leader" ] || exit 0
/usr/bin/stty -F "/proc/$leader/fd/0" cols "$2" rows "$3" && exec /usr/bin/pkill -WINCH --session "$leader"`

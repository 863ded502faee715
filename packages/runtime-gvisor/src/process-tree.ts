/**
 * Ends everything a command started: processes that carry its mark in their environment and the descendants of
 * its first process. A process that both cleared its environment and left its parent escapes.
 */
import { randomBytes } from 'node:crypto'

/** Name of the environment variable that marks a command's processes. */
export const execMark = 'DOCK_EXEC_ID'

/** A mark that no other command has. */
export const newExecMark = (): string => randomBytes(12).toString('hex')

/**
 * A bash program that kills a marked tree; to be run as root inside. Builtins only: forking is slow inside.
 * `$1` is the mark, `$2` the number of the command's first process or 0.
 */
export const killTreeProgram = `
shopt -s nullglob
declare -A doomed
[ "$2" != 0 ] && doomed[$2]=1
for round in 1 2 3 4; do
  found=
  for folder in /proc/[0-9]*; do
    pid=\${folder#/proc/}
    [ "$pid" = 1 ] || [ "$pid" = $$ ] && continue
    mark=
    { mapfile -d '' -t variables <"$folder/environ"; } 2>/dev/null || continue
    for variable in "\${variables[@]}"; do
      [ "$variable" = "${execMark}=$1" ] && mark=1
    done
    { read -r line <"$folder/stat"; } 2>/dev/null || continue
    fields=(\${line##*) })
    [ "\${fields[0]}" = Z ] && continue
    [ -n "\${doomed[\${fields[1]}]}" ] && mark=1
    [ "$pid" = "$2" ] && mark=1
    [ -z "$mark" ] || { doomed[$pid]=1; found=1; }
  done
  [ -n "$found" ] || exit 0
  kill -9 "\${!doomed[@]}" 2>/dev/null
done
exit 0
`

/**
 * The bash program that ends everything a command started, run as root inside. Builtins only: a fork is slow in a
 * sandbox. Processes are stopped before they are killed, so that one that forks faster than it is found runs dry; each at
 * the moment it is found, since one that is another process every few milliseconds is gone when the look is over.
 */
import { markVariable } from './exec-mark.ts'

/**
 * `$1` is the mark, `$2` the marked bounding set, `$3` how many hundredths of a second ago the command was started. Ends with 0 when a look at every process found none left.
 */
export const endTreeProgram = `
shopt -s nullglob extglob
mark=$1 bounding=$2
read -r up _ </proc/uptime
up=\${up/.} since=$((10#$up - $3 - 100))
declare -A doomed stopped

# Whether the process of $folder, $pid, $parent and $caps is one of the command's.
belongs() {
  [ "$caps" = "$bounding" ] || [ -n "\${doomed[$parent]}" ] && return 0
  local variables variable
  { mapfile -d '' -t variables <"$folder/environ"; } 2>/dev/null
  for variable in "\${variables[@]}"; do
    case $variable in
      "${markVariable}=$mark") return 0 ;;
      "${markVariable}="*) return 1 ;;
    esac
  done
  # In a user namespace of its own a process has a full bounding set. An orphan there, younger than the command and of
  # no other one, is taken for the command's.
  [ "$caps" = 000001ffffffffff ] && [ "$parent" = 1 ] || return 1
  local stat fields
  { read -r stat <"$folder/stat"; } 2>/dev/null || return 1
  fields=(\${stat##*) })
  [ "\${fields[19]}" -ge "$since" ]
}

empty=0
for ((round = 0; round < 60; round++)); do
  live=() fresh=() handing=() vanished=
  declare -A parents=()
  # The newest first: they are the ones that may not be there for long.
  folders=(/proc/+([0-9]))
  for ((at = \${#folders[@]} - 1; at >= 0; at--)); do
    folder=\${folders[at]}
    pid=\${folder#/proc/} name= state= parent= caps=
    [ "$pid" = 1 ] || [ "$pid" = $$ ] && continue
    lines=()
    { mapfile -t lines <"$folder/status"; } 2>/dev/null
    [ "\${#lines[@]}" -gt 0 ] || vanished=1
    for line in "\${lines[@]}"; do
      case $line in
        Name:*) name=\${line##*[[:space:]]} ;;
        State:*) state=\${line#*:+([[:space:]])} ;;
        PPid:*) parent=\${line##*[[:space:]]} ;;
        CapBnd:*) caps=\${line##*[[:space:]]} ;;
      esac
    done
    case $state in '' | Z* | X*) continue ;; esac
    parents[$parent]=1
    [ "$name" = s6-sudod ] && handing+=("$pid")
    belongs || continue
    doomed[$pid]=1
    live+=("$pid")
    [ -n "\${stopped[$pid]}" ] && continue
    kill -STOP "$pid" 2>/dev/null
    stopped[$pid]=1 fresh+=("$pid")
  done
  if [ "\${#live[@]}" -eq 0 ]; then
    # One that ended before it was read may have been the command's, with a child that this look did not list: look again.
    [ -z "$vanished" ] || [ "$((empty += 1))" -ge 20 ] || continue
    # The service behind \`sudo\` has a process without a child while it takes a command over: that one is still to come.
    for pid in "\${handing[@]}"; do [ -n "\${parents[$pid]}" ] || [ "$round" -ge 20 ] || continue 2; done
    exit 0
  fi
  # Those that come new with every look keep the others from their end for a few rounds only.
  if [ "\${#fresh[@]}" -eq 0 ] || [ "$round" -ge 3 ]; then kill -KILL "\${live[@]}" 2>/dev/null; fi
done
exit 1
`

/**
 * The bash program that kills everything a command started. It runs as root inside the sandbox and uses only builtins,
 * because a fork is slow there. Processes are stopped before they are killed, so that a process that forks faster than
 * the program scans cannot escape. Each one is stopped as soon as it is found: a process that keeps replacing itself
 * would be gone by the end of the scan.
 */
import { markVariable } from '../sandbox/exec-mark.ts'

/**
 * Arguments: the mark, the marked bounding set, and the command's age in hundredths of a second. Exits with 0 once a
 * scan of all processes finds none of the command's.
 */
export const endTreeProgram = `
shopt -s nullglob extglob
mark=$1 bounding=$2
read -r up _ </proc/uptime
up=\${up/.} since=$((10#$up - $3 - 100))
declare -A doomed stopped

# Succeeds if the process of $folder, $pid, $parent and $caps belongs to the command.
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
  # A process in a new user namespace has a full bounding set. Such an orphan belongs to the command if it is younger
  # than the command and has no mark of another one.
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
  # Newest first: these may disappear soonest.
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
    # A process that ended before it was read may have had a child that this scan did not list: scan again.
    [ -z "$vanished" ] || [ "$((empty += 1))" -ge 20 ] || continue
    # An s6-sudod without a child is about to start a command for \`sudo\`: wait for that child.
    for pid in "\${handing[@]}"; do [ -n "\${parents[$pid]}" ] || [ "$round" -ge 20 ] || continue 2; done
    exit 0
  fi
  # Kill once a scan finds no new process, at the latest in the fourth round.
  if [ "\${#fresh[@]}" -eq 0 ] || [ "$round" -ge 3 ]; then kill -KILL "\${live[@]}" 2>/dev/null; fi
done
exit 1
`

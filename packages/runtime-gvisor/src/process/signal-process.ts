/**
 * Sends a signal to an attached process. A program inside does it, because the sentry knows no process groups. It runs
 * as root, so that the signal also reaches what the program runs through `sudo`.
 */
import {
  type ExecReference,
  ExecRefused,
  type SandboxProcess,
  type SignalName,
  type SignalTarget,
  signalNumbers,
} from '@dock/runtime'
import type { ExecTransport } from '../exec/exec-transport.ts'
import { runPlatformProgram } from '../exec/run-platform-program.ts'
import { markedBoundingSet } from '../sandbox/exec-mark.ts'
import type { LiveSandbox } from '../sandbox/live-sandbox.ts'

const signalMs = 10_000

/**
 * Arguments: pid, marked bounding set, signal, `process`, `group` or `attached`, and 1 for a pseudo-terminal. The bounding set proves
 * that the pid is not another process by now; once a program has ended, that the members of its group are not others.
 * A program that was started from outside leads a process group; on a
 * pseudo-terminal, the child of the given process does.
 *
 * The hang-up of a terminal also reaches its foreground. gVisor tells nobody which group that is. These shells pass a
 * hang-up on to their jobs, also to the one in the foreground, and know which ones were disowned. For any other program,
 * every process of the terminal's session gets HUP; those of `nohup` and `setsid` are spared.
 *
 * Streams from outside the sandbox are the only descriptors whose link begins with `host:`.
 */
const signalProgram = `
lines=() caps= proof=$1
if [ "$4 $5" = "attached 0" ] && [ ! -e "/proc/$1" ]; then
  proof=$(/usr/bin/pgrep --oldest --pgroup "$1") || exit 0
fi
{ mapfile -t lines <"/proc/$proof/status"; } 2>/dev/null
for line in "\${lines[@]}"; do
  case $line in CapBnd:*) caps=\${line##*[[:space:]]} ;; esac
done
[ "$caps" = "$2" ] || exit 0
leader=$1
if [ "$5" != 0 ]; then
  leader=
  { read -r leader _ <"/proc/$1/task/$1/children"; } 2>/dev/null
  [ -n "$leader" ] || leader=$(/usr/bin/pgrep --oldest --parent "$1") || exit 0
fi
if [ "$4 $5" = "attached 0" ]; then
  mapfile -t folders < <(/usr/bin/pgrep --pgroup "$leader" | /usr/bin/sed 's|.*|/proc/&/fd|')
  mapfile -t attached < <(/usr/bin/find "\${folders[@]}" -maxdepth 1 -lname 'host:*' -printf '%h\n' 2>/dev/null)
  attached=("\${attached[@]#/proc/}")
  kill -s "$3" -- "$leader" "\${attached[@]%/fd}" 2>/dev/null
  exit 0
fi
if [ "$3 $5" = "HUP 1" ] && [ "$4" != process ]; then
  read -r name <"/proc/$leader/comm" || exit 0
  case $name in
    bash | zsh | fish | ksh*) kill -s HUP -- "-$leader"; kill -s CONT -- "-$leader" ;;
    *) /usr/bin/pkill -HUP --session "$leader"; /usr/bin/pkill -CONT --session "$leader" ;;
  esac 2>/dev/null
  exit 0
fi
[ "$4" = process ] || leader=-$leader
kill -s "$3" -- "$leader" 2>/dev/null
`

/** Signals every process in `pids`; those that have ended are skipped. */
const signalAllProgram = `signal=$1; shift; kill -s "$signal" -- "$@" 2>/dev/null`

/** Does nothing if the process has ended. `list` lists the processes of the sandbox. */
export async function signalProcess(
  transport: ExecTransport,
  sandbox: Pick<LiveSandbox, 'id' | 'sentry'>,
  { pid, mark, pty }: ExecReference,
  signal: SignalName,
  target: SignalTarget,
  list: () => Promise<SandboxProcess[]>,
): Promise<void> {
  if (pid === 0) return
  const words =
    target === 'tree'
      ? [signalAllProgram, 'signal', signal, ...descendants(pid, await list()).map(String)]
      : [signalProgram, 'signal', `${pid}`, markedBoundingSet(mark), signal, target, pty ? '1' : '0']
  const program = {
    argv: ['/bin/bash', '-c', ...words],
    ...{ env: { PATH: '/usr/bin:/bin' }, deadlineMs: signalMs },
  }
  try {
    await runPlatformProgram(transport, sandbox.id, 'other', program)
  } catch (error) {
    if (!(error instanceof ExecRefused)) throw error
    // The sandbox no longer has a bash.
    await (await sandbox.sentry()).signal(pid, signalNumbers[signal]).catch(() => undefined)
  }
}

/** Returns a process and its descendants, without those that ended meanwhile. */
const descendants = (pid: number, processes: readonly SandboxProcess[]): number[] => {
  const found = new Set(processes.filter((each) => each.pid === pid).map((each) => each.pid))
  for (let known = 0; known < found.size; ) {
    known = found.size
    for (const each of processes) if (found.has(each.parentPid)) found.add(each.pid)
  }
  return [...found]
}

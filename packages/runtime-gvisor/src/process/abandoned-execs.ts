/**
 * Finds running commands whose starter may be dead. A process started from outside has no parent inside the sandbox,
 * and processes left behind by an ended command are reparented to process 1. So the commands are the marked processes
 * without a parent.
 */
import type { ExecReference, SandboxProcess } from '@dock/runtime'
import type { ExecTransport } from '../exec/exec-transport.ts'
import { runPlatformProgram } from '../exec/run-platform-program.ts'
import { isSameMark, markOf, markVariable } from '../sandbox/exec-mark.ts'
import { ptyHolderName } from './pty-program.ts'

const readMs = 10_000
const outputLimitBytes = 256 * 1024

/** Prints the bounding set and the mark variable of each pid in its arguments. A tenant may have set the variable. */
const readMarks = `
for pid; do
  lines=() variables=() caps= mark=
  { mapfile -t lines <"/proc/$pid/status"; mapfile -d '' -t variables <"/proc/$pid/environ"; } 2>/dev/null
  for line in "\${lines[@]}"; do
    case $line in CapBnd:*) caps=\${line##*[[:space:]]} ;; esac
  done
  for variable in "\${variables[@]}"; do
    case $variable in "${markVariable}="*) mark=\${variable#*=} ;; esac
  done
  case $mark in *[!0-9a-f]*) mark= ;; esac
  [ -z "$caps" ] || printf '%s %s %s\\n' "$pid" "$caps" "$mark"
done
`

/** Returns the commands of a sandbox with these processes, except commands with a mark in `known`. */
export async function abandonedExecs(
  transport: ExecTransport,
  sandboxId: string,
  processes: readonly SandboxProcess[],
  known: ReadonlySet<string>,
): Promise<ExecReference[]> {
  const fromOutside = processes.filter(({ pid, parentPid }) => parentPid === 0 && pid !== 1)
  if (fromOutside.length === 0) return []
  const argv = ['/bin/bash', '-c', readMarks, 'read-marks', ...fromOutside.map(({ pid }) => String(pid))]
  const program = { argv, outputLimitBytes, deadlineMs: readMs }
  const { stdout, exitCode } = await runPlatformProgram(transport, sandboxId, 'other', program)
  if (exitCode !== 0) throw new Error(`reading the marks of commands failed: ${exitCode}`)
  const holders = new Set(fromOutside.filter(({ name }) => name === ptyHolderName).map(({ pid }) => pid))
  return [...stdout.toString().matchAll(/^(\d+) ([0-9a-f]{16}) ([0-9a-f]*)$/gm)].flatMap(
    ([, pid, bounding, variable]) => {
      const mark = markOf(bounding!, variable!)
      const isKnown = mark === null || [...known].some((each) => isSameMark(each, mark))
      return isKnown
        ? []
        : { pid: Number(pid), mark, ...(holders.has(Number(pid)) ? { pty: true as const } : {}) }
    },
  )
}

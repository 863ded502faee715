import type { DockProcess } from '@dock/contract'
import type { KeptProcess } from '../hosts/index.ts'

const outputOf = ({ first, end, isOpen }: KeptProcess['stdout']): DockProcess['stdout'] => ({
  firstOffset: first,
  endOffset: end,
  open: isOpen,
})

/** Converts a process as the host describes it. */
export function viewProcess(process: KeptProcess): DockProcess {
  const { processId, command, pty, startedAt, end, stdin, stdout, stderr } = process
  return {
    id: processId,
    command,
    pty,
    startedAt,
    state: end ? 'ended' : 'running',
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    reason: end?.reason ?? null,
    endedAt: end?.at ?? null,
    stdin: { offset: stdin.offset, open: stdin.isOpen },
    stdout: outputOf(stdout),
    stderr: stderr && outputOf(stderr),
  }
}

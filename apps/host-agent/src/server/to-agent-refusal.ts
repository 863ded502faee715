/** Turns the errors of commands into refusals. */
import { ChunkDamaged } from '@dock/copy-format'
import type { AgentErrorCode } from '@dock/host-protocol'
import { ExecRefused, SandboxGone } from '@dock/runtime'
import { NotRegularFile } from '../disks/capture-reader.ts'
import { HostileDisk } from '../disks/check-foreign-disk.ts'
import { NoSpace, NotInPool } from '../disks/pool.ts'
import { QueueFull } from '../disks/reader-queue.ts'
import { DiskTooSmall } from '../disks/resize-disk.ts'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'

/** Converts an error thrown by a command to a refusal. Unexpected errors get the code `failed`. */
export function toAgentRefusal(error: unknown): AgentRefusal {
  if (error instanceof AgentRefusal) return error
  const message = error instanceof Error ? error.message : String(error)
  const refuse = (code: AgentErrorCode) => new AgentRefusal(code, message, { cause: error })
  if (error instanceof DiskTooSmall || error instanceof NotRegularFile) return refuse('invalid')
  if (error instanceof QueueFull) return refuse('busy')
  if (error instanceof NoSpace) return refuse('no_space')
  if (error instanceof NotInPool) return refuse('not_found')
  if (error instanceof ChunkDamaged || error instanceof HostileDisk) return refuse('damaged')
  if (error instanceof ExecRefused) return refuse('exec_refused')
  if (error instanceof SandboxGone) return refuse('not_running')
  return refuse('failed')
}

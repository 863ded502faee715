/** References to programs of a guest: their channel on the link, which a later agent uses to attach to them. */
import type { ExecReference } from '@dock/runtime'

export function referenceTo(program: { id: number; pid: number; isTerminal: boolean }): ExecReference {
  const { id, pid, isTerminal } = program
  return { pid, mark: id.toString(16), ...(isTerminal ? { pty: true } : {}) }
}

/** Returns the channel, or null if the mark is not one of this driver. */
export function channelOf({ mark }: ExecReference): number | null {
  return /^[0-9a-f]{1,8}$/.test(mark) ? Number.parseInt(mark, 16) : null
}

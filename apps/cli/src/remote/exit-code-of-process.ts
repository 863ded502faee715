/** The exit code of a process in a Dock. */
import { constants } from 'node:os'
import { DockError, type DockProcess } from '@dock/sdk'

const sentences: Readonly<Record<string, string>> = {
  timed_out: 'The command ran longer than --timeout and was ended.',
  dock_ended: 'The Dock stopped while the command ran.',
  out_of_memory: 'The Dock ran out of memory, so it ended the command.',
  keeper_lost: 'The host lost the command.',
  lost: 'The host lost the command.',
}

/** Returns the exit code as a shell gives it. Throws if the command did not end by itself. */
export function exitCodeOfProcess({ reason, exitCode, signal }: DockProcess): number {
  if (reason === 'exited' && exitCode !== null) return exitCode
  const numbers = constants.signals as Readonly<Record<string, number | undefined>>
  const number = signal === null ? undefined : numbers[`SIG${signal.replace(/^SIG/, '')}`]
  if (reason === 'signaled') return number === undefined ? 255 : 128 + number
  throw new DockError(`process_${reason ?? 'lost'}`, sentences[reason ?? 'lost'] ?? 'The command ended.')
}

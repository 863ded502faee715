/** Says in plain words why a Dock cannot be resumed, or copied, from a Snapshot. */
import { type DockState, ServiceError } from '@dock/contract'

const noSnapshot =
  'The Dock has no Snapshot to boot from: its data was deleted, or was lost with its host. Delete the Dock.'

const resumeSentences: Readonly<Record<DockState, string>> = {
  provisioning: 'The Dock is starting already.',
  provisioned: 'The Dock is starting already.',
  cloning: 'The Dock is starting already.',
  ready: 'The Dock runs already: there is nothing to resume.',
  running: 'The Dock runs already: there is nothing to resume.',
  idle: 'The Dock is sleeping, not stopped: it takes commands, and there is nothing to resume.',
  archiving: 'The Dock is stopping. Resume it when it is stopped.',
  archived: noSnapshot,
  error: 'The Dock has failed. Stop it, which saves its disk, and then resume it.',
  unreachable: 'The host of the Dock does not respond. The Dock goes on by itself when the host is back.',
}

/** Returns the error for a resume that the state does not allow. `archived` means that there is no Snapshot. */
export function notResumable({ state, hasDisk }: { state: DockState; hasDisk: boolean }): ServiceError {
  const message =
    state === 'error' && !hasDisk
      ? 'The Dock has failed and has no disk to boot from. Delete it.'
      : resumeSentences[state]
  return new ServiceError('conflict', { message })
}

const copySentences: Readonly<Record<DockState, string>> = {
  ...resumeSentences,
  provisioning: 'The Dock is still starting. Try again when it runs.',
  provisioned: 'The Dock is still starting. Try again when it runs.',
  cloning: 'The Dock is still starting. Try again when it runs.',
  // It has just lost its host.
  ready: 'The Dock has just changed. Try again.',
  running: 'The Dock has just changed. Try again.',
  idle: 'The Dock has just changed. Try again.',
  archiving: 'The Dock is stopping. Try again when it is stopped.',
  archived: 'The Dock has no Snapshot to copy: its data was deleted, or was lost with its host.',
  error: 'The Dock has failed. Stop it, which saves its disk, and then try again.',
  unreachable: 'The host of the Dock does not respond. Try again when the host is back.',
}

/** Returns the error for a branch, or a Template, that the state does not allow. */
export function notCopyable({ state }: { state: DockState }): ServiceError {
  return new ServiceError('conflict', { message: copySentences[state] })
}

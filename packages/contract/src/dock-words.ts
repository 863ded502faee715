/**
 * The words for the states of a Dock. The API has the names of the contract; everything that people read (dashboard,
 * command line, mails, SSH, documentation) has these words.
 */
import type { DockState } from './dock-state.ts'

export const dockWords = {
  provisioning: 'Starting',
  provisioned: 'Starting',
  cloning: 'Starting',
  ready: 'Running',
  running: 'Running',
  idle: 'Sleeping',
  archiving: 'Stopping',
  archived: 'Stopped',
  error: 'Failed',
  unreachable: 'Unreachable',
} as const satisfies Record<DockState, string>

export type DockWord = (typeof dockWords)[DockState]

/** What each word means to the person who owns the Dock. */
export const dockWordMeanings = {
  Starting: 'It boots, or its repositories are being cloned.',
  Running: 'It takes commands.',
  Sleeping: 'Nobody has used it for 15 minutes. It takes commands, and wakes up for them.',
  Stopping: 'Its disk is being saved as a Snapshot.',
  Stopped: 'It does not run. Its disk is kept; a resume boots it again.',
  Failed: 'It could not be started, or ended and could not be booted again.',
  Unreachable: 'Its host does not respond. It goes on when the host is back.',
} as const satisfies Record<DockWord, string>

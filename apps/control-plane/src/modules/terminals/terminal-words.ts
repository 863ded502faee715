/** What callers read when a terminal cannot be opened. */
import { limits, ServiceError } from '@dock/contract'
import { processWords } from '../docks/index.ts'
import { type HostFailureWords, hostNotReached } from '../hosts/index.ts'

type Explain = HostFailureWords['busy']

const notOpened: Explain = (cause) =>
  new ServiceError('service_unavailable', {
    message: 'The Dock could not open a terminal. Retry in a moment.',
    cause,
  })

/** For a shell of its own. */
export const shellWords: HostFailureWords = {
  busy: processWords.busy,
  not_linked: hostNotReached,
  unreachable: hostNotReached,
  exec_refused: notOpened,
  invalid: notOpened,
  frozen: notOpened,
  out_of_memory: notOpened,
  conflict: notOpened,
  no_space: notOpened,
  damaged: notOpened,
  failed: notOpened,
}

/** For a terminal that is attached to a process. */
export const attachWords: HostFailureWords = {
  ...shellWords,
  busy: () =>
    new ServiceError('rate_limited', {
      message: 'Too many streams of processes of this Dock are open. Close one and try again.',
    }),
  not_found: () => noSuchTerminal(),
  conflict: () =>
    new ServiceError('conflict', { message: 'offset: the process has not written as much output.' }),
}

/** Returns the error for a process that no terminal can be attached to. */
export function noSuchTerminal(): ServiceError {
  return new ServiceError('not_found', { message: 'This Dock has no such running process with a pty.' })
}

const { openPerDockMax, openPerUserMax } = limits.terminal

/** Returns the error for a Dock that has reached the limit of open terminals. */
export function tooManyInDock(): ServiceError {
  return new ServiceError('rate_limited', {
    message: `${openPerDockMax} terminals are open in this Dock. Close one and try again.`,
  })
}

/** Returns the error for a person who has reached the limit of open terminals. */
export function tooManyOfUser(): ServiceError {
  return new ServiceError('rate_limited', {
    message: `You have ${openPerUserMax} terminals open. Close one and try again.`,
  })
}

/** What callers read when a call on a kept process fails at the Dock's host. */
import { limits, ServiceError } from '@dock/contract'
import { type HostFailureWords, hostNotReached, NotBegun } from '../hosts/index.ts'

const { runningPerDockMax, readersPerDockMax } = limits.processes

type Explain = HostFailureWords['busy']

const notDone: Explain = ({ message }) =>
  new ServiceError('service_unavailable', {
    message: 'The Dock could not do this. Retry in a moment.',
    detail: message,
  })

const words: Omit<HostFailureWords, 'busy'> = {
  unreachable: hostNotReached,
  not_found: () => new ServiceError('not_found', { message: 'This Dock has no such process.' }),
  conflict: ({ message }) => new ServiceError('conflict', { message: asSentence(message) }),
  out_of_memory: notDone,
  no_space: notDone,
  damaged: notDone,
  failed: notDone,
}

/** For starts and reads: as many processes run as may. */
export const startWords: HostFailureWords = {
  ...words,
  busy: () =>
    new NotBegun('rate_limited', {
      message: `${runningPerDockMax} processes are running in this Dock; wait until one ends.`,
    }),
}

/** For streams: as many readers are there as may be. */
export const readerWords: HostFailureWords = {
  ...words,
  busy: () =>
    new NotBegun('rate_limited', {
      message: `${readersPerDockMax} streams of processes of this Dock are open; close one.`,
    }),
}

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

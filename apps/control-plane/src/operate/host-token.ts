import { systemClock } from '@dock/foundation'
import type { Verb } from './verb.ts'

/**
 * Prints a join token for one more machine, which script/host makes a host. The token is valid for one registration within
 * an hour, and only its hash is stored. A builder's images go to all hosts, so its machine must be trusted like this one.
 */
export const hostToken: Verb = {
  usage: '[--builder]',
  summary: 'prints a join token for one more host',
  read: (words) => {
    if (words.length > 0 && words.join(' ') !== '--builder') return undefined
    return async (db) => {
      const { createEnrolment } = await import('../modules/hosts/index.ts')
      return createEnrolment({ db, clock: systemClock }).issueJoinToken({ isForBuilder: words.length > 0 })
    }
  },
}

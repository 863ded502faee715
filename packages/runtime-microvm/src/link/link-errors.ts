/** What can go wrong between the host and a guest. */
import type { RefusalReason } from './protocol.ts'

/** The guest broke the protocol. It may be hostile: its machine must be killed. */
export class GuestViolation extends Error {
  override readonly name = 'GuestViolation'
}

/** The connection to the guest ended. Programs go on, and a new connection finds them. */
export class LinkBroken extends Error {
  override readonly name = 'LinkBroken'
}

/** The guest did not start a program, or does not know it. `text` is the guest's own. */
export class GuestRefused extends Error {
  override readonly name = 'GuestRefused'
  readonly reason: RefusalReason
  constructor(reason: RefusalReason, text: string) {
    super(text)
    this.reason = reason
  }
}

/** A call failed inside the guest. `errno` is Linux's number. */
export class GuestCallFailed extends Error {
  override readonly name = 'GuestCallFailed'
  readonly errno: number
  constructor(call: string, errno: number, text: string) {
    super(`${call} failed in the guest with error ${errno}${text ? ` (${text})` : ''}`)
    this.errno = errno
  }
}

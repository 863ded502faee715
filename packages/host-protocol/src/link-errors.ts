/** What a call over a link can end with besides an answer. */
import type { AgentErrorCode } from './messages.ts'

/** The agent understood the call and refused it; `status` is the HTTP status it chose. */
export class AgentRefusal extends Error {
  readonly code: AgentErrorCode
  readonly status: number
  constructor(code: AgentErrorCode, message: string, status: number) {
    super(message)
    this.name = 'AgentRefusal'
    this.code = code
    this.status = status
  }
}

/** The connection broke before the whole answer was there: the call may or may not have had its effect. */
export class LinkLost extends Error {
  constructor(message = 'the link to the host broke', options?: ErrorOptions) {
    super(message, options)
    this.name = 'LinkLost'
  }
}

/** The answer did not come within `timeoutMs`: the call may or may not have had its effect. */
export class LinkTimeout extends LinkLost {
  constructor(timeoutMs: number) {
    super(`the host did not answer within ${timeoutMs} ms`)
    this.name = 'LinkTimeout'
  }
}

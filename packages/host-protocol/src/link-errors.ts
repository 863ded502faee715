/** Errors of calls over a link. */
import type { AgentErrorCode } from './messages.ts'

/** The agent refused the call. `status` is the HTTP status of its response. */
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

/** The link broke before the complete response arrived. The call may or may not have taken effect. */
export class LinkLost extends Error {
  constructor(message = 'the link to the host broke', options?: ErrorOptions) {
    super(message, options)
    this.name = 'LinkLost'
  }
}

/** No complete response arrived within `timeoutMs`. The call may or may not have taken effect. */
export class LinkTimeout extends LinkLost {
  constructor(timeoutMs: number) {
    super(`the host did not respond within ${timeoutMs} ms`)
    this.name = 'LinkTimeout'
  }
}

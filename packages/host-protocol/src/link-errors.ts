/** Errors of calls to a host. */
import type { AgentErrorCode } from './messages.ts'

/** The agent refused the call, or the call failed. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused'
  readonly code: AgentErrorCode
  constructor(code: AgentErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The link broke before the complete response arrived. The call may or may not have taken effect. */
export class HostUnreachable extends Error {
  override readonly name = 'HostUnreachable'
  constructor(message = 'the link to the host broke', options?: ErrorOptions) {
    super(message, options)
  }
}

/** The host is not connected. The call was never sent. */
export class HostNotLinked extends HostUnreachable {}

/** No complete response arrived within `timeoutMs`. The call may or may not have taken effect. */
export class LinkTimeout extends HostUnreachable {
  constructor(timeoutMs: number) {
    super(`the host did not respond within ${timeoutMs} ms`)
  }
}

import type { AgentErrorCode } from '@dock/host-protocol'

/** The agent refuses a command. The control plane acts on the code; the sentence goes to its log. */
export class AgentRefusal extends Error {
  override readonly name = 'AgentRefusal'
  readonly code: AgentErrorCode
  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

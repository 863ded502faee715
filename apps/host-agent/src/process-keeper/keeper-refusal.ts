/** The keeper cannot do what the agent asked for. The code is the agent's refusal code for the control plane. */

/** `not_found`: no such process. `conflict`: the offset or the state does not allow it. `busy`: too many readers. */
export type KeeperRefusalCode = 'not_found' | 'conflict' | 'busy' | 'invalid'

export class KeeperRefusal extends Error {
  override readonly name = 'KeeperRefusal'
  readonly code: KeeperRefusalCode
  constructor(code: KeeperRefusalCode, message: string) {
    super(message)
    this.code = code
  }
}

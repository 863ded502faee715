/** A decision on a quarantined item that cannot be taken. The message says what to do. */
export class QuarantineRefused extends Error {
  readonly reason: 'not_found' | 'conflict'
  constructor(reason: QuarantineRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

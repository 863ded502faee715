/** An answer that is no success: the service's stable code, the HTTP status, and the sentence for a person. */
export class DockApiError extends Error {
  /** One of the contract's codes; `bad_response` when the answer was not the service's own. */
  readonly code: string
  readonly status: number
  constructor(code: string, status: number, message: string) {
    super(message)
    this.name = 'DockApiError'
    this.code = code
    this.status = status
  }
}

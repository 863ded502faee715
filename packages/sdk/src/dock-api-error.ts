/** An unsuccessful response: the service's stable code, the HTTP status, and a message for people. */
export class DockApiError extends Error {
  /** A code of the contract, or `bad_response` if the response did not come from the service. */
  readonly code: string
  readonly status: number
  constructor(code: string, status: number, message: string) {
    super(message)
    this.name = 'DockApiError'
    this.code = code
    this.status = status
  }
}

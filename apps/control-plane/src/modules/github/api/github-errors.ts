/** How calls to GitHub fail. */

/** GitHub could not be reached, is overloaded, or its response cannot be used. A later attempt may succeed. */
export class GithubUnavailable extends Error {
  override readonly name = 'GithubUnavailable'
  /** How long GitHub asks to wait, in milliseconds. */
  readonly retryAfterMs: number | null

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number | null } = {}) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** GitHub refused the call. The same call would be refused again. */
export class GithubRefused extends Error {
  override readonly name = 'GithubRefused'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** A refusal by the git door. git prints its text after `remote:`. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export class DoorRefusal extends Error {
  override readonly name = 'DoorRefusal'
  readonly status: number
  /** True if the provider responded with 401: it requires a credential or rejects this one. git retries with its own. */
  readonly isOfCredential: boolean
  /** URL to which git is redirected, past the door; null if it is not redirected. */
  readonly location: string | null
  /** Methods that the path takes, for a 405. */
  readonly allow: readonly string[] | null
  constructor(
    status: number,
    message: string,
    {
      cause,
      isOfCredential = false,
      location = null,
      allow = null,
    }: {
      cause?: unknown
      isOfCredential?: boolean
      location?: string | null
      allow?: readonly string[] | null
    } = {},
  ) {
    super(message, { cause })
    this.status = status
    this.isOfCredential = isOfCredential
    this.location = location
    this.allow = allow
  }
}

/** Sends the refusal. If a response has begun, cuts the connection, so that git does not take the response for complete. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, location, allow }: DoorRefusal,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  // LFS clients expect JSON.
  const isLfs = request.url?.includes('/info/lfs')
  response.writeHead(status, {
    'content-type': isLfs ? 'application/vnd.git-lfs+json' : 'text/plain; charset=utf-8',
    connection: 'close',
    ...(location === null ? {} : { location }),
    ...(allow === null ? {} : { allow: allow.join(', ') }),
  })
  response.end(isLfs ? JSON.stringify({ message }) : `${message}\n`)
}

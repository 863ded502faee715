/** A refusal of the door, as git shows it: plain text, which it prints behind `remote:`. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export class DoorRefusal extends Error {
  override readonly name = 'DoorRefusal'
  readonly status: number
  /** True if the provider answered 401: it refuses the credential or wants one. git sends one of its own only after a 401. */
  readonly isOfCredential: boolean
  /** Where git goes instead, without the door. */
  readonly location: string | null
  constructor(
    status: number,
    message: string,
    {
      cause,
      isOfCredential = false,
      location = null,
    }: { cause?: unknown; isOfCredential?: boolean; location?: string | null } = {},
  ) {
    super(message, { cause })
    this.status = status
    this.isOfCredential = isOfCredential
    this.location = location
  }
}

/** Sends the refusal. If a response has begun, cuts the connection, so that git does not take the response for complete. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, location }: DoorRefusal,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  // The clients of LFS read no plain text.
  const isLfs = request.url?.includes('/info/lfs')
  response.writeHead(status, {
    'content-type': isLfs ? 'application/vnd.git-lfs+json' : 'text/plain; charset=utf-8',
    connection: 'close',
    ...(location === null ? {} : { location }),
  })
  response.end(isLfs ? JSON.stringify({ message }) : `${message}\n`)
}

/**
 * The host that a program sees. Development servers refuse requests for names that they do not know, so the program gets
 * `localhost` with its port, as if the visitor were in the Dock, and what it says about that host is turned back.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** Returns the `Host` of a request from within the Dock. */
export function localHost(port: number): string {
  return port === 80 ? 'localhost' : `localhost:${port}`
}

/** Headers with a URL that the client follows. */
const urlHeaders = ['location', 'content-location'] as const

/**
 * Replaces `localhost` with the public address in the headers of a response that the client follows. `sent` are the
 * headers of the request as the program saw them. They tell the public address, and whether the program saw `localhost`.
 */
export function restorePublicHost(headers: IncomingHttpHeaders, sent: IncomingHttpHeaders): void {
  const publicHost = sent['x-forwarded-host']
  if (typeof publicHost !== 'string' || sent.host === undefined || sent.host === publicHost) return
  const local = new RegExp(`^(https?:)?//${sent.host.replace('.', '\\.')}(?![^/?#])`, 'i')
  for (const name of urlHeaders) {
    const value = headers[name]
    if (value !== undefined)
      headers[name] = value.replace(local, (_, scheme?: string) =>
        scheme === undefined ? `//${publicHost}` : `${sent['x-forwarded-proto']}://${publicHost}`,
      )
  }
}

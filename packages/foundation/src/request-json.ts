/** Sends a single request to a control plane, over TCP or a local Unix socket, and bounds the response size. */
import { request } from 'node:http'
import { request as requestSecurely } from 'node:https'

/** A dialable address. `socketPath` is set for `unix:/path`. */
export type Dialled = { base: string; socketPath: string | undefined }

const unixScheme = 'unix:'

/** Parses the address of a control plane: `http://…`, `https://…`, or `unix:/path/of/socket`. */
export function dialledAddress(address: string): Dialled {
  return address.startsWith(unixScheme)
    ? { base: 'http://localhost', socketPath: address.slice(unixScheme.length) }
    : { base: address, socketPath: undefined }
}

export type JsonAnswer = { status: number; body: unknown }

const answerBytesMax = 8 * 2 ** 20

/** Resolves with status and parsed body. Rejects if there is no response, or if it is not JSON of at most 8 MiB. */
export function requestJson(
  address: string,
  path: string,
  options: { method: string; headers?: Record<string, string>; body?: object; signal: AbortSignal },
): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const { base, socketPath } = dialledAddress(address)
    const url = new URL(path, base)
    const content = options.body === undefined ? undefined : JSON.stringify(options.body)
    const outgoing = (url.protocol === 'https:' ? requestSecurely : request)(url, {
      method: options.method,
      headers: {
        ...options.headers,
        ...(content === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      },
      agent: false,
      signal: options.signal,
      ...(socketPath === undefined ? {} : { socketPath }),
    })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > answerBytesMax) response.destroy(new Error(`response exceeds ${answerBytesMax} bytes`))
        else pieces.push(piece)
      })
      response.once('error', reject)
      response.once('end', () => {
        try {
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(Buffer.concat(pieces).toString('utf8')),
          })
        } catch (error) {
          reject(error)
        }
      })
    })
    outgoing.end(content)
  })
}

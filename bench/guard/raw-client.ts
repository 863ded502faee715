/** The same small HTTP client for both servers, so that only the servers differ. Keeps its connections open. */
import { Agent, request } from 'node:http'

export type RawClient = {
  /** Returns `data` of the response. Throws if the server refuses the request. */
  call<T>(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<T>
  close(): void
}

export function openRawClient(baseUrl: string, apiKey: string): RawClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const { hostname, port } = new URL(baseUrl)
  const authorization = `Bearer ${apiKey}`
  return {
    call: (method, path, body, headers) =>
      new Promise((resolve, reject) => {
        const text = body && JSON.stringify(body)
        const outgoing = request({
          agent,
          hostname,
          port,
          method,
          path,
          headers: {
            authorization,
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers,
          },
        })
        outgoing.once('error', reject)
        outgoing.once('response', (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.once('error', reject)
          response.once('end', () => {
            const answer = Buffer.concat(parts).toString()
            if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(answer).data)
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`))
          })
        })
        outgoing.end(text)
      }),
    close: () => agent.destroy(),
  }
}

/** A server that stands in for that of gVisor's releases. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReleaseServer = {
  /** Value of DOCK_TEST_RUNSC_RELEASES. */
  address: string
  /** Methods and paths of all requests so far. */
  asked: string[]
  /** Responds to the requests. */
  serve: RequestListener
  close(): Promise<void>
}

/** Starts a server on a free port of the loopback interface. */
export async function startReleaseServer(serve: RequestListener): Promise<ReleaseServer> {
  const server = createServer((request, response) => {
    releases.asked.push(`${request.method} ${request.url}`)
    releases.serve(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const releases: ReleaseServer = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    serve,
    close: async () => {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return releases
}

/** Returns the SHA-512 of a program, in hexadecimal digits. */
export function sha512(content: string): string {
  return createHash('sha512').update(content).digest('hex')
}

/** A provider of models whose answers are streams, slow, large, or break off. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type BrokenModelServer = { url: string; close(): void }

const usage = '{"usage":{"prompt_tokens":1,"completion_tokens":1}}'

export async function startBrokenModelServer(): Promise<BrokenModelServer> {
  let asked = 0
  const server = createServer((request, response) => {
    request.on('error', () => undefined).resume()
    request.once('end', () => {
      asked += 1
      const isStream = asked % 2 === 0
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      if (asked % 7 === 0) return void response.socket?.resetAndDestroy()
      if (!isStream)
        return void response.end(`{"text":"${'x'.repeat(asked % 5 === 0 ? 2e6 : 20)}",${usage.slice(1)}`)
      let left = 20
      const timer = setInterval(() => {
        left -= 1
        if (asked % 11 === 0 && left === 5) response.socket?.resetAndDestroy()
        else response.write(`data: {"choices":[{"delta":{"content":"${'y'.repeat(2_000)}"}}]}\n\n`)
        if (left === 0) response.end(`data: ${usage}\n\ndata: [DONE]\n\n`)
      }, 20)
      response.once('close', () => clearInterval(timer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

import { once } from 'node:events'
import { createClient } from '@dock/sdk'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './create-mcp-server.ts'

/**
 * Serves the tools on standard input and output. Resolves when the input has ended. Nothing else may write to the output
 * meanwhile. It makes its own client: in the package of the command line this is a bundle with its own SDK, whose classes of
 * errors are not those of the program that loads it.
 */
export async function serveMcpOverStdio(baseUrl: string, apiKey: string): Promise<void> {
  const client = createClient({ baseUrl, apiKey })
  const ended = once(process.stdin, 'close')
  const server = serveStdio(() => createMcpServer({ client }))
  await ended
  await server.close()
}

import { once } from 'node:events'
import type { Client } from '@dock/sdk'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './create-mcp-server.ts'

/**
 * Serves the tools on standard input and output. Resolves when the input has ended. Nothing else may write to the output
 * meanwhile.
 */
export async function serveMcpOverStdio(client: Client): Promise<void> {
  const ended = once(process.stdin, 'close')
  const server = serveStdio(() => createMcpServer({ client }))
  await ended
  await server.close()
}

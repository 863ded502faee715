import type { Command } from '../program/command.ts'

/** Serves MCP to a coding agent. Its code is loaded only here, because it is larger than all other commands together. */
export const mcp: Command = {
  path: ['mcp'],
  summary: 'Serve the tools of Dock to a coding agent, as MCP over standard input and output',
  details:
    'An agent starts this program itself. It acts with your key. How to add it to agents: docs/mcp.md.',
  examples: ['claude mcp add dock -- dock mcp'],
  async run(context) {
    const { url, apiKey } = await context.connection()
    const { serveMcpOverStdio } = await import('@dock/mcp/stdio')
    await serveMcpOverStdio(url, apiKey)
  },
}

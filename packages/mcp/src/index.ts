/** The MCP server of Dock, without a transport. `serve-stdio.ts` serves it on standard input and output. */
export { createMcpServer, type McpServerOptions } from './create-mcp-server.ts'
export { resultCharactersMax } from './tool-result.ts'

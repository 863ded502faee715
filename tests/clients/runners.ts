/** The clients that do the scenario. README.md says how to add one. */
import { chromium } from './chromium.ts'
import { commandLine } from './command-line.ts'
import { connectHttp, connectStdio, mcp } from './mcp.ts'
import { program, type Runner } from './program.ts'
import { typescriptProgram } from './typescript-program.ts'

export const runners: readonly [name: string, run: Runner][] = [
  ['TypeScript SDK in Node', typescriptProgram('node')],
  ['TypeScript SDK in Chromium', chromium],
  ['Python SDK', program('/usr/bin/python3', 'tests/clients/python-sync.py')],
  ['Python SDK in asyncio', program('/usr/bin/python3', 'tests/clients/python-asyncio.py')],
  ['command line', commandLine],
  ['MCP stdio', mcp((run) => connectStdio(run))],
  ['MCP HTTP', mcp(connectHttp)],
]

export { program }

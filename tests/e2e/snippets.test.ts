/** Runs the code of the documents that is marked (CONTRIBUTING.md, "Code in documents"), and the configurations of docs/mcp.md. */
import { execFile } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDock, deleteDock } from './support/dock.ts'
import { type Cli, createCli } from './support/run-cli.ts'
import { runDocument } from './support/run-document.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const { admin, client } = server
const checkout = new URL('../../', import.meta.url).pathname
const run = promisify(execFile)

const documents: readonly [document: string, hasKey: boolean][] = [
  ['README.md', true],
  ['docs/cli.md', false],
  ['docs/device-sign-in.md', true],
  ['docs/files.md', true],
  ['docs/processes.md', true],
  ['docs/sdk.md', true],
  ['docs/ssh.md', true],
]

const dockIds = async (): Promise<string[]> =>
  (await client.call('listDocks', { query: { all: true } })).map(({ id }) => id)

it.each(documents)('runs the marked code of %s', async (document, hasKey) => {
  const before = new Set(await dockIds())
  // Documents name their Docks alike, so those of one must be gone before the next.
  onTestFinished(async () => {
    const left = (await dockIds()).filter((id) => !before.has(id))
    await Promise.all(left.map((id) => deleteDock(server, id)))
    for (const { id } of await client.call('listSshKeys', {}))
      await client.call('deleteSshKey', { params: { id } })
  })
  const [{ id, name }, { ssh }] = await Promise.all([
    createDock(server, { name: freshName('example') }),
    client.call('readConfig', {}),
  ])
  if (!ssh || name === null) throw new Error('the SSH gateway is off')
  const blocks = await runDocument(document, { admin, dock: { id, name }, sshPort: ssh.port, hasKey })
  expect(blocks).toBeGreaterThan(0)
})

/** What the documented configurations start or reach, with the example address and the key in their places. */
type McpServer = { command?: string; args?: string[]; url?: string; headers?: Record<string, string> }

describe('the configurations of docs/mcp.md', () => {
  let cli: Cli
  let found: McpServer[]
  beforeAll(async () => {
    cli = await createCli(admin)
    const text = (await readFile(join(checkout, 'docs/mcp.md'), 'utf8')).replaceAll(
      'https://dock.example.com',
      admin.baseUrl,
    )
    const blocks = (language: string): string[] =>
      [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code!)
    const json = blocks('json').map((code) => JSON.parse(code) as Record<string, Record<string, McpServer>>)
    const toml = await Promise.all(blocks('toml').map(readToml))
    found = [
      ...[...json, ...toml].map((each) => (each.mcpServers ?? each.mcp_servers ?? each.servers)!.dock!),
      ...(await claudeServers(blocks('sh').join('\n'))),
    ]
  })
  afterAll(() => cli?.remove())

  const readToml = async (code: string) => {
    const program = 'import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.argv[1])))'
    return JSON.parse((await run('/usr/bin/python3', ['-c', program, code])).stdout)
  }
  /** Runs the lines with a program `claude` that says how it was called. */
  const claudeServers = async (lines: string): Promise<McpServer[]> => {
    await writeFile(
      join(cli.folder, 'bin/claude'),
      '#!/usr/bin/env node\nconsole.log(JSON.stringify(process.argv.slice(2)))\n',
    )
    await chmod(join(cli.folder, 'bin/claude'), 0o755)
    const { stdout } = await cli.bash(lines)
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const words = JSON.parse(line) as string[]
        expect(words.slice(0, 2)).toEqual(['mcp', 'add'])
        const at = words.indexOf('--')
        if (at >= 0) return { command: words[at + 1]!, args: words.slice(at + 2) }
        const [name, value] = words[words.indexOf('--header') + 1]!.split(': ') as [string, string]
        return { url: words.find((word) => word.startsWith('http:'))!, headers: { [name]: value } }
      })
  }

  it('connect an agent to the tools', async () => {
    expect(found).toHaveLength(5)
    for (const { command, args, url, headers } of found) {
      const agent = new Client({ name: 'documents', version: '1' })
      const withKey = Object.entries(headers ?? {}).map(([name, value]) => [
        name,
        value.replace(`\${input:dock-key}`, admin.apiKey),
      ])
      await agent.connect(
        url === undefined
          ? new StdioClientTransport({
              command: join(cli.folder, 'bin', command!),
              args: args!,
              env: cli.env,
            })
          : new StreamableHTTPClientTransport(new URL(url), {
              requestInit: { headers: Object.fromEntries(withKey) },
            }),
      )
      expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('create_dock')
      const result = await agent.callTool({ name: 'list_docks', arguments: {} })
      expect([command ?? url, result.isError ?? false]).toEqual([command ?? url, false])
      await agent.close()
    }
  })
})

/** `dock mcp` as it is built: what an agent reads when a tool fails. */
import { startControlPlaneWithHost } from '@dock/testkit'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callTool, connectHttp, connectStdio } from '../clients/mcp.ts'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'

let server: Awaited<ReturnType<typeof startControlPlaneWithHost>>
let cli: Cli
let clients: Client[] = []
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  const baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
  const { apiKey } = server.admin
  cli = await createCli({ baseUrl, apiKey })
  clients = await Promise.all([
    connectStdio({ baseUrl, apiKey, home: cli.folder }, cli.program),
    connectHttp({ baseUrl, apiKey }),
  ])
  await cli.run(['create', 'web'])
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await cli?.remove()
  await server?.stop()
})

it.each([
  ['a file that is not there', 'read_file', { path: '/nosuch' }, 'not_found: '],
  ['a process that is not there', 'read_process', { process: crypto.randomUUID() }, 'not_found: '],
])('says over stdio what it says over HTTP: %s', async (_, tool, args, sentence) => {
  const [stdio, http] = await Promise.all(
    clients.map((client) => callTool(client, tool, { dock: 'web', ...args })),
  )
  expect(stdio).toMatchObject({ isError: true, facts: expect.stringContaining(sentence) })
  expect(stdio).toEqual(http)
})

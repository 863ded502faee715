/** The tools of MCP against a service that says more than any service does: no result exceeds its clip. */
import { openApiDocument } from '@dock/contract'
import { createMcpServer, resultCharactersMax } from '@dock/mcp'
import { createClient } from '@dock/sdk'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callTool } from '../clients/mcp.ts'

type Json = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: a document of JSON Schema.
const document = openApiDocument({ serverUrl: 'http://dock.test', cookieName: 'c' }) as any

/** What people and programs in Docks choose. Ids, states and times stay as they are. */
const freeTexts = new Set([
  ...['name', 'image', 'path', 'target', 'url', 'command', 'message', 'stdout', 'stderr', 'setupError'],
  ...['nextCursor', 'environment', 'fromTemplate', 'hostId', 'mode'],
])
const long = '\u001b[31m\u202e"x\\\u0001'.repeat(3000)

/** Returns the example with its free texts long and its lists long. */
const swollen = (value: unknown, field = ''): unknown => {
  if (Array.isArray(value))
    return value.flatMap((each) => Array.from({ length: 40 }, () => swollen(each, field)))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value as Json).map(([key, each]) => [key, swollen(each, key)]))
  return freeTexts.has(field) && value !== undefined ? long : value
}

const exampleOf = (schema: { $ref?: string; type?: string; items?: object }): unknown => {
  if (schema.type === 'array') return [exampleOf(schema.items as never)]
  return document.components.schemas[schema.$ref?.split('/').at(-1) ?? '']?.examples?.[0] ?? {}
}

let refuses = false
/** Answers each route with its example. */
const serve = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  if (refuses) return Response.json({ ok: false, code: 'conflict', message: long }, { status: 409 })
  const { pathname } = new URL(String(input))
  const fits = (template: string): boolean =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
  const paths = Object.keys(document.paths).filter(fits)
  // A path without parameters is meant before one with some.
  const path = paths.toSorted((one, other) => one.split('{').length - other.split('{').length)[0]
  const operation = document.paths[path ?? '']?.[(init?.method ?? 'GET').toLowerCase()]
  const [status, response] = Object.entries<{ content?: Json }>(operation?.responses ?? {})[0] ?? ['404']
  const json = response?.content?.['application/json'] as
    | { schema: { properties: { data: object } } }
    | undefined
  if (json)
    return Response.json(
      { ok: true, data: swollen(exampleOf(json.schema.properties.data)) },
      { status: Number(status) },
    )
  return new Response(long.repeat(20), {
    headers: { 'content-length': String(Buffer.byteLength(long) * 20) },
  })
}

let agent: Client
beforeAll(async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = createClient({
    baseUrl: 'http://dock.test',
    apiKey: 'k',
    retries: 0,
    fetch: serve as typeof fetch,
  })
  await createMcpServer({ client }).connect(theirs)
  agent = new Client({ name: 'clip', version: '1' })
  await agent.connect(ours)
})
afterAll(() => agent?.close())

const id = '0198f0a2-6f0c-7c59-9a49-0a8a1d1f4a11'
const dock = { dock: id }
const calls: Record<string, object> = {
  create_dock: { name: 'n', workspaceId: id },
  list_docks: {},
  list_snapshots: dock,
  delete_dock: { ...dock, name: 'x' },
  run_command: { ...dock, command: 'true' },
  start_process: { ...dock, command: 'true' },
  read_process: { ...dock, process: id },
  read_file: { ...dock, path: '/x' },
  write_file: { ...dock, path: '/x', content: '' },
  list_files: dock,
  expose_port: { ...dock, port: 80 },
  branch_dock: dock,
  stop_dock: dock,
  resume_dock: dock,
  read_snapshot_file: { snapshot: id },
}

it.each([false, true])('every tool stays within its clip; the service refuses: %s', async (refused) => {
  refuses = refused
  const names = (await agent.listTools()).tools.map(({ name }) => name)
  expect(names.toSorted()).toEqual(Object.keys(calls).toSorted())
  let longest = 0
  for (const name of names) {
    const { facts, data, isError } = await callTool(agent, name, calls[name])
    const length = [facts, ...data].reduce((sum, text) => sum + text.length, 0)
    expect([name, length <= resultCharactersMax]).toEqual([name, true])
    for (const hidden of ['\u001b', '\u202e'])
      expect([name, (facts + data.join('')).includes(hidden)]).toEqual([name, false])
    if (refused) expect([name, isError]).toEqual([name, true])
    longest = Math.max(longest, length)
  }
  // The texts were long, so something was clipped.
  if (!refused) expect(longest).toBeGreaterThan(20_000)
})

/** A client that another project's generator makes from the document type-checks, and works against a server. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { openApiDocument } from '@dock/contract'
import { addPerson, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, expect, it } from 'vitest'

const testkit = resolve(import.meta.dirname, '../testkit')
const root = resolve(testkit, '../..')
// Below the root, where the client's imports are found, and not tracked.
const parent = join(root, '.tools/openapi-client')
await mkdir(parent, { recursive: true })
const folder = await mkdtemp(join(parent, 'test-'))
const server = await startControlPlaneWithHost()
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const run = async (program: string, words: string[], env: NodeJS.ProcessEnv = {}): Promise<string> => {
  const child = promisify(execFile)(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
  })
  child.child.stdin?.end()
  return (await child).stdout
}
const typeCheck = (file: string): Promise<string> =>
  run(join(root, 'node_modules/typescript/bin/tsc'), [
    ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'esnext'],
    ...['--allowImportingTsExtensions', '--ignoreConfig'],
    ...['--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), file],
  ])

const scenario = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

const client = createClient<paths>({
  baseUrl: process.env.DOCK_URL ?? '',
  headers: { authorization: 'Bearer ' + process.env.DOCK_API_KEY },
})
const workspaceId = process.env.WORKSPACE ?? ''
const created = await client.POST('/v1/docks', { body: { workspaceId, name: 'generated' } })
if (!created.data) throw new Error(created.error.code + ': ' + created.error.message)
const dock: components['schemas']['Dock'] = created.data.data
const path = { id: dock.id }
const read = await client.GET('/v1/docks/{id}', { params: { path } })
const list = await client.GET('/v1/docks', { params: { query: { all: true } } })
const missing = await client.GET('/v1/docks/{id}', { params: { path: { id: workspaceId } } })
const code: 'dock_not_found' | string | undefined = missing.error?.code
const stopped = await client.POST('/v1/docks/{id}/stop', { params: { path }, body: { force: true } })
const gone = await client.DELETE('/v1/docks/{id}', {
  params: { path, header: { 'x-confirm-delete': dock.id } },
})
// @ts-expect-error: an id is text, so the generated types do check something.
void (() => client.POST('/v1/docks', { body: { workspaceId: 1 } }))
const names: (string | null)[] = list.data?.data.map(({ name }) => name) ?? []
console.log(JSON.stringify({
  name: read.data?.data.name, names, code,
  stopped: stopped.data?.data.id === dock.id, deletes: gone.data?.data.operation.targetType,
}))
`

it('creates, reads, lists, stops and deletes a Dock', { timeout: 60_000 }, async () => {
  const person = await addPerson(server)
  const organization = await server.call('POST', '/v1/organizations', { name: 'Generated' }, person.apiKey)
  const { id } = organization.body.data as { id: string }
  const workspaces = await server.call('GET', `/v1/organizations/${id}/workspaces`, undefined, person.apiKey)
  const [workspace] = workspaces.body.data as [{ id: string }]

  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument()))
  await run(join(testkit, 'node_modules/openapi-typescript/bin/cli.js'), [
    ...['openapi.json', '--output', 'schema.d.ts', '--default-non-nullable=false'],
  ])
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'scenario.ts'), scenario)
  await typeCheck('scenario.ts').catch((error: { stdout: string }) => {
    throw new Error(error.stdout)
  })

  const { port } = await server.listen()
  const output = await run(join(folder, 'scenario.ts'), [], {
    DOCK_URL: `http://127.0.0.1:${port}`,
    DOCK_API_KEY: person.apiKey,
    WORKSPACE: workspace.id,
  })
  expect(JSON.parse(output)).toEqual({
    name: 'generated',
    names: ['generated'],
    code: 'dock_not_found',
    stopped: true,
    deletes: 'dock',
  })
})

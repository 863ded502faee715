import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeFirstDock } from './first-dock.ts'

let dataDir: string
let server: Server
let baseUrl: string
/** The requests that the API received, in order, and the Docks it has. */
let asked: string[]
let docks: { id: string; name: string }[]

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dock-first-'))
  asked = []
  docks = []
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const made = { id: 'new', name: 'first' }
    const data = request.url?.endsWith('/exec')
      ? { stdout: 'Linux\n' }
      : request.method === 'GET'
        ? docks
        : made
    response.end(JSON.stringify({ ok: true, data }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  baseUrl = `http://127.0.0.1:${address && typeof address === 'object' ? address.port : 0}`
})
afterEach(async () => {
  await new Promise((done) => server.close(done))
  await rm(dataDir, { recursive: true })
})

const make = () => {
  const admin = {
    baseUrl,
    email: '',
    password: '',
    apiKey: 'k',
    organizationId: 'o',
    workspaceId: 'w',
    image: 'i',
  }
  return makeFirstDock(baseUrl, admin, dataDir)
}

it('makes the first Dock once', async () => {
  expect(await make()).toMatchObject({ id: 'new', uname: 'Linux' })
  expect(asked).toContain('POST /v1/docks')
  expect(await make()).toBeUndefined()
})

it('reuses the Dock that an interrupted start has made', async () => {
  docks = [{ id: 'old', name: 'first' }]
  expect(await make()).toMatchObject({ id: 'old', uname: 'Linux' })
  expect(asked).not.toContain('POST /v1/docks')
})

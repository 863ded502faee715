/** A control plane loads a library when something first uses it, not when it starts. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const program = join(import.meta.dirname, 'main.ts')
/** Parts of the paths of what most servers use never, or once in a while. */
const deferred = [
  'node_modules/@aws-sdk/',
  'node_modules/@modelcontextprotocol/',
  'node_modules/better-auth/',
  'node_modules/ioredis/',
  'node_modules/nodemailer/',
  'node_modules/stripe/',
  'packages/mcp/',
  'packages/sdk/',
]

/** Appends the URL of each module that the program loads to a file. */
const recordLoads = `
  import { appendFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  registerHooks({
    load: (url, context, next) => {
      appendFileSync(process.env.LOADED_MODULES, url + '\\n')
      return next(url, context)
    },
  })`

let folder: string
let child: ChildProcess | undefined
let database: FreshDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-loads-'))
  database = await createFreshDatabase()
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await database?.drop()
  await rm(folder, { recursive: true })
})

/** Starts a control plane, lets `use` make requests, and stops it in order. */
const withControlPlane = async (loads: string, use: (url: string) => Promise<void>): Promise<void> => {
  const started = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(recordLoads)}`, program],
    {
      env: {
        ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        ...{ DATABASE_URL: database.url, DOCK_CONTROL_DIR: folder, LOADED_MODULES: loads },
        ...{ PORT: '0', DOCK_METRICS_PORT: '0' },
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  child = started
  const ended = once(started, 'exit')
  try {
    for await (const line of createInterface(started.stderr)) {
      const { msg, port } = JSON.parse(line) as { msg: string; port?: number }
      if (msg !== 'control plane ready') continue
      await use(`http://127.0.0.1:${port}`)
      break
    }
  } finally {
    started.kill()
  }
  expect(await ended).toEqual([0, null])
}

it('loads no library that nothing has used yet', async () => {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')]
  const loadedOf = async (file: string): Promise<string[]> => {
    const urls = await readFile(file, 'utf8')
    return deferred.filter((part) => urls.includes(part))
  }
  // The first start creates a person, whose password is hashed by the library for signing in.
  await withControlPlane(first, async () => undefined)
  await withControlPlane(second, async (url) => {
    const { apiKey } = JSON.parse(await readFile(join(folder, 'admin.json'), 'utf8')) as { apiKey: string }
    const headers = { authorization: `Bearer ${apiKey}` }
    expect((await fetch(`${url}/v1/me`, { headers })).status).toBe(200)
    expect((await readFile(second, 'utf8')).length).toBeGreaterThan(0)
    expect(await loadedOf(second)).toEqual([])

    const asked = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
    expect(asked.status).toBe(200)
    expect(await loadedOf(second)).toEqual([
      'node_modules/@modelcontextprotocol/',
      'packages/mcp/',
      'packages/sdk/',
    ])
  })
})

/** `dock open` of a port that is not exposed. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { Output } from '../output/output.ts'
import { Context } from '../program/context.ts'
import { UsageError } from '../program/failures.ts'
import { type FlagValue, Input } from '../program/input.ts'
import { portCommands } from './ports.ts'

let exposed: number[] = []
const address = (port: number) => ({
  port,
  url: `http://${port}.a.test`,
  createdAt: new Date().toISOString(),
})
const server = createServer(async (request, response) => {
  let data: unknown = [{ id: '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa', name: 'web' }]
  if (request.url?.endsWith('/ports')) data = exposed.map(address)
  if (request.method === 'POST') {
    let body = ''
    for await (const chunk of request) body += chunk
    const { port } = JSON.parse(body)
    exposed.push(port)
    data = address(port)
  }
  response.end(JSON.stringify({ ok: true, data }))
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())
beforeEach(() => {
  exposed = []
})

const open = async (flag: string): Promise<string> => {
  let text = ''
  const sink = {
    write: (chunk: string | Uint8Array) => {
      text += String(chunk)
      return true
    },
  }
  const args = { DOCK: 'web', PORT: '3000' }
  const flags: [string, FlagValue][] = [
    ['no-input', true],
    [flag, true],
  ]
  const input = new Input(new Map(Object.entries(args)), new Map(flags), [])
  const out = new Output({ stdout: sink, stderr: sink, env: {}, isJson: false, isQuiet: false })
  const context = new Context(out, { DOCK_URL: url, DOCK_API_KEY: 'dock_key' }, '/', input)
  await portCommands.find(({ path }) => path[0] === 'open')!.run(context, input)
  return text
}

it('exposes nothing if nobody can be asked, and names the command that does', async () => {
  const refused = await open('no-input').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(UsageError)
  expect(String(refused)).toContain('dock port expose web 3000')
  expect(exposed).toEqual([])
})

it('exposes the port with --yes', async () => {
  expect(await open('yes')).toContain('http://3000.a.test')
  expect(exposed).toEqual([3000])
})

it('opens a port that is exposed without a question', async () => {
  exposed = [3000]
  expect(await open('no-input')).toContain('http://3000.a.test')
  expect(exposed).toEqual([3000])
})

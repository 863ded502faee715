/** Processes over connections that break. The server here keeps input and output by offset, as Dock's process keeper does. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createClient, DockProcesses, OutputLostError } from './index.ts'

const id = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
const pid = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a12'

let server: Server
let baseUrl: string
let input: Buffer
let output: { stdout: Buffer; stderr: Buffer }
let firstOffset: number
/** After how many bytes the next requests break off. */
let cuts: number[]
/** Called before the server takes the bytes of a request. */
let beforeInput: () => void
let afterCut: () => void
/** How many of the next responses stay silent until they break off. */
let silences: number
let afterSilence: () => void

const info = () => {
  const of = (bytes: Buffer) => ({ firstOffset, endOffset: bytes.length, open: false })
  return {
    id: pid,
    state: 'ended',
    stdin: { offset: input.length, open: true },
    stdout: of(output.stdout),
    stderr: of(output.stderr),
  }
}

const takeInput = async (request: IncomingMessage, offset: number): Promise<number | null> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  beforeInput()
  const body = Buffer.concat(chunks)
  const cut = cuts.shift()
  const arrived = cut === undefined ? body : body.subarray(0, cut)
  if (offset > input.length) return -1
  input = Buffer.concat([input, arrived.subarray(Math.max(0, input.length - offset))])
  return cut === undefined ? input.length : null
}

const sendOutput = (response: ServerResponse, query: URLSearchParams): void => {
  const at = (name: string): number => Math.max(firstOffset, Number(query.get(name) ?? 0))
  const stream = query.get('stream') ?? 'stdout'
  const line = (name: 'stdout' | 'stderr', offset: number, end: number) =>
    `${JSON.stringify({ stream: name, offset, data: output[name].subarray(offset, end).toString('base64') })}\n`
  const pieces = (name: 'stdout' | 'stderr', from: number): string => {
    let text = ''
    for (let offset = from; offset < output[name].length; offset += 7) text += line(name, offset, offset + 7)
    return text
  }
  const body =
    stream === 'both'
      ? Buffer.from(pieces('stdout', at('offset')) + pieces('stderr', at('stderrOffset')))
      : output[stream as 'stdout'].subarray(at('offset'))
  if (stream !== 'both') response.setHeader('x-dock-start-offset', at('offset'))
  if (silences > 0) {
    silences -= 1
    response.writeHead(200).flushHeaders()
    setTimeout(() => {
      afterSilence()
      response.destroy()
    }, 100)
    return
  }
  const cut = cuts.shift()
  response.writeHead(200)
  if (cut === undefined) return void response.end(body)
  response.write(body.subarray(0, cut), () => response.destroy())
  afterCut()
}

beforeEach(async () => {
  input = Buffer.alloc(0)
  output = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  firstOffset = 0
  cuts = []
  beforeInput = () => undefined
  afterCut = () => undefined
  silences = 0
  afterSilence = () => undefined
  server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    const send = (data: unknown) => response.end(JSON.stringify({ ok: true, data }))
    if (pathname.endsWith('/output')) return sendOutput(response, searchParams)
    if (!pathname.endsWith('/stdin')) return send(info())
    const offset = await takeInput(request, Number(searchParams.get('offset')))
    if (offset === null) return response.destroy()
    if (offset >= 0) return send({ offset })
    response.writeHead(409).end(JSON.stringify({ ok: false, code: 'conflict', message: 'Gap.' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const attach = (client = createClient({ baseUrl, apiKey: 'k' }), offset?: number) =>
  new DockProcesses(client, id).attach(pid, { offset })
const numbered = (count: number) =>
  Buffer.from(Array.from({ length: count }, (_, at) => `line ${at}\n`).join(''))
const collected = async (chunks: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

it('writes each byte of input once, wherever a request breaks', async () => {
  const { stdin } = attach()
  // Nothing, a part, and all of the bytes arrived, and no response.
  cuts = [0, 3, 100]
  await stdin.write('first line\n')
  cuts = [4]
  await stdin.write('second\n')
  expect(input.toString()).toBe('first line\nsecond\n')
})

it('writes large input in pieces, each once', async () => {
  const bytes = numbered(100_000)
  cuts = [200_000, 5, 0]
  await attach().stdin.write(bytes)
  expect(input.equals(bytes)).toBe(true)
})

it('writes whole what two writers send, also through two handles', async () => {
  const client = createClient({ baseUrl, apiKey: 'k' })
  const [one, two] = [attach(client), attach(client)]
  cuts = [1, 2, 3]
  await Promise.all([
    one.stdin.write('a1\n'),
    two.stdin.write('b1\n'),
    one.stdin.write('a2\n'),
    two.stdin.write('b2\n'),
  ])
  expect(input.toString()).toBe('a1\nb1\na2\nb2\n')
})

it('writes behind what another program has written', async () => {
  const [one, two] = [attach(), attach()]
  await one.stdin.write('mine\n')
  await two.stdin.write('other\n')
  await one.stdin.write('mine again\n')
  expect(input.toString()).toBe('mine\nother\nmine again\n')
})

it('reads on after silences that ended the response, however many', async () => {
  output.stdout = Buffer.from('done\n')
  const clock = vi.spyOn(Date, 'now')
  let now = 1_000_000
  clock.mockImplementation(() => now)
  silences = 3
  afterSilence = () => {
    now += 300_000
  }
  const text = attach().stdout.text()
  await expect(text).resolves.toBe('done\n')
  expect(silences).toBe(0)
  clock.mockRestore()
})

it('reports that another program wrote at the same moment', async () => {
  beforeInput = () => {
    input = Buffer.concat([input, Buffer.from('a longer line of another program\n')])
  }
  await expect(attach().stdin.write('mine\n')).rejects.toMatchObject({ code: 'input_shared' })
})

it('takes no further input after an aborted write, because nobody knows what arrived', async () => {
  const { stdin } = attach()
  const controller = new AbortController()
  beforeInput = () => controller.abort()
  await expect(stdin.write('x', { signal: controller.signal })).rejects.toThrow()
  await expect(stdin.write('y')).rejects.toMatchObject({ code: 'input_uncertain' })
})

it('loses no line and repeats none when connections break', async () => {
  output.stdout = numbered(2000)
  cuts = [0, 10, 5000, 3]
  const lines: string[] = []
  for await (const line of attach().stdout.lines()) lines.push(line)
  expect(lines).toEqual(numbered(2000).toString().trimEnd().split('\n'))
})

it('goes on with both outputs where each was', async () => {
  output = { stdout: numbered(50), stderr: Buffer.from('problem\n'.repeat(40)) }
  cuts = [0, 10, 500, 1801, 3]
  const seen = { stdout: '', stderr: '' }
  for await (const { stream, offset, data } of attach().output()) {
    expect(offset).toBe(seen[stream].length)
    seen[stream] += Buffer.from(data).toString()
  }
  expect(seen).toEqual({ stdout: String(output.stdout), stderr: String(output.stderr) })
})

it('reads from an offset on', async () => {
  output.stdout = Buffer.from('0123456789')
  expect(await collected(attach(undefined, 4).stdout)).toBe('456789')
})

it('starts at the first byte that is kept, but does not hide a gap', async () => {
  output.stdout = Buffer.from('0123456789')
  firstOffset = 3
  expect(await collected(attach().stdout)).toBe('3456789')
  await expect(collected(attach(undefined, 1).stdout)).rejects.toBeInstanceOf(OutputLostError)
  // Between two connections, bytes are dropped.
  cuts = [0]
  afterCut = () => {
    firstOffset = 8
  }
  await expect(collected(attach(undefined, 4).stdout)).rejects.toMatchObject({ code: 'output_lost' })
})

it('ends a reader that is aborted', async () => {
  output.stdout = numbered(10)
  cuts = [5]
  const controller = new AbortController()
  const reading = (async () => {
    for await (const _ of attach().stdout.bytes({ signal: controller.signal }))
      controller.abort(new Error('enough'))
  })()
  await expect(reading).rejects.toThrow('enough')
})

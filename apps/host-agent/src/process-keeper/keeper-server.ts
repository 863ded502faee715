/**
 * The keeper's HTTP interface on a Unix socket that only root can open. Bodies are JSON, except for streams:
 * - GET `/` → `{version, pid}` · GET `/end` → a response that ends when the keeper exits in order, and breaks if it dies
 * - POST `/end`: exits
 * - GET `/docks` → ids · DELETE `/docks/:dock`
 * - POST `/docks/:dock/left` {@link PipesOfProcess}: reads and drops what comes out of these pipes
 * - GET `/docks/:dock/processes` → {@link StreamsState} by id
 * - POST `/docks/:dock/processes/:id` `{stdin, stderr, holdOutput, owner?}` → {@link PipePaths} · DELETE
 * - POST `…/:id/started` · GET `…/:id` → {@link StreamsState}
 * - GET `…/:id/output/:stream?offset=&follow=` → bytes, with the headers below
 * - POST `…/:id/stdin?offset=` (a number, or `next`) with bytes → `{offset}` · POST `…/:id/stdin/close`
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isUuid } from '@dock/foundation'
import { firstOffsetHeader, type KeptInputOffset, startOffsetHeader } from '@dock/host-protocol'
import type { Keeper } from './keeper.ts'
import { KeeperRefusal, type KeeperRefusalCode } from './keeper-refusal.ts'
import { type StreamName, streamNames } from './kept-streams.ts'
import type { PipesOfProcess } from './left-pipes.ts'
import { readOutput } from './read-output.ts'

export const keeperVersion = 1
/** How long the body of a refused request is read and dropped. */
const refusedBodyMs = 5_000

const statusOf = { not_found: 404, conflict: 409, busy: 429, invalid: 400 } as const satisfies Record<
  KeeperRefusalCode,
  number
>

type Call = { keeper: Keeper; request: IncomingMessage; response: ServerResponse; query: URLSearchParams }

/** What the server tells the program that runs it. */
export type KeeperEvents = {
  log(error: unknown): void
  /** Called with 1 at the beginning of a request and with -1 at its end. */
  onUse(by: 1 | -1): void
  /** The agent orders the keeper to exit. */
  onEndOrdered(): void
}

export type KeeperServer = {
  server: Server
  /** Tells everyone who waits for it that the keeper exits in order. */
  announceEnd(): Promise<void>
}

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const offsetOf = (query: URLSearchParams): number => {
  const text = query.get('offset') ?? '0'
  const offset = Number(text)
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(offset))
    throw new KeeperRefusal('invalid', 'offset: must be a number of bytes')
  return offset
}

const inputOffsetOf = (query: URLSearchParams): KeptInputOffset =>
  query.get('offset') === 'next' ? 'next' : offsetOf(query)

const readJson = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

const sendOutput = async (call: Call, dockId: string, id: string, name: string): Promise<void> => {
  const { keeper, response, query } = call
  const stream = streamNames.find((each) => each === name)
  if (!stream) throw new KeeperRefusal('not_found', 'no such stream')
  const output = keeper.find(dockId, id).output(stream satisfies StreamName)
  const offset = offsetOf(query)
  const isFollowed = query.get('follow') === 'true'
  // A reader that follows may be faster than the program: it waits for the byte that it asked for.
  const mayCome = isFollowed && output.isOpen
  if (offset > output.end && !mayCome)
    throw new KeeperRefusal('conflict', `the output has ${output.end} bytes so far`)
  keeper.requireReaders(dockId)
  const from = Math.max(offset, output.first)
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    [firstOffsetHeader]: String(output.first),
    [startOffsetHeader]: String(from),
  })
  response.flushHeaders()
  await readOutput(output, from, isFollowed, response)
}

const serveProcess = async (call: Call, dockId: string, id: string, rest: string): Promise<void> => {
  const { keeper, request, response } = call
  switch (`${request.method} ${rest}`) {
    case 'POST ': {
      const { stdin, stderr, holdOutput, owner } = await readJson(request)
      const wanted = {
        ...{ stdin: stdin === true, stderr: stderr === true, holdOutput: holdOutput === true },
        ...(typeof owner === 'string' ? { owner } : {}),
      }
      return json(response, (await keeper.create(dockId, id, wanted)).paths)
    }
    case 'DELETE ':
      await keeper.remove(dockId, id)
      return json(response, {})
    case 'GET ':
      return json(response, keeper.find(dockId, id).state)
    case 'POST started':
      await keeper.find(dockId, id).markStarted()
      return json(response, {})
    case 'POST stdin': {
      // A request that is destroyed before its end keeps its connection, which then carries nothing more.
      const chunks = request.iterator({ destroyOnReturn: false })
      const offset = await keeper.find(dockId, id).writeInput(inputOffsetOf(call.query), chunks)
      return json(response, { offset })
    }
    case 'POST stdin/close':
      keeper.find(dockId, id).endInput()
      return json(response, {})
    case 'GET output/stdout':
    case 'GET output/stderr':
      return sendOutput(call, dockId, id, rest.slice('output/'.length))
  }
  throw new KeeperRefusal('not_found', 'no such path')
}

const serve = async (call: Call, pathname: string): Promise<void> => {
  const { keeper, request, response } = call
  const [, first, dockId, second, id, ...rest] = pathname.split('/')
  if (pathname === '/') return json(response, { version: keeperVersion, pid: process.pid })
  if (first !== 'docks' || [dockId, id].some((each) => each !== undefined && !isUuid(each)))
    throw new KeeperRefusal('not_found', 'no such path')
  if (dockId === undefined) return json(response, keeper.docks())
  if (second === undefined && request.method === 'DELETE') {
    await keeper.removeDock(dockId)
    return json(response, {})
  }
  if (second === 'left' && request.method === 'POST') {
    keeper.left.keep(dockId, (await readJson(request)) as PipesOfProcess)
    return json(response, {})
  }
  if (second !== 'processes') throw new KeeperRefusal('not_found', 'no such path')
  if (id === undefined) return json(response, keeper.list(dockId))
  return serveProcess(call, dockId, id, rest.join('/'))
}

const refuse = ({ request, response }: Call, error: unknown, log: (error: unknown) => void): void => {
  const isRefusal = error instanceof KeeperRefusal
  // A caller that leaves in the middle of its body is usual.
  if (!isRefusal && !request.destroyed) log(error)
  if (response.headersSent || response.destroyed) return void response.destroy()
  const message = error instanceof Error ? error.message : String(error)
  // The connection stays open: what the caller still sends would cut the response off. The caller closes it.
  request.resume()
  setTimeout(() => request.destroy(), refusedBodyMs).unref()
  json(response, { code: isRefusal ? error.code : 'failed', message }, isRefusal ? statusOf[error.code] : 500)
}

/** Creates the server without listening. */
export function createKeeperServer(keeper: Keeper, events: KeeperEvents): KeeperServer {
  const waiting = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://keeper')
    if (!url) return json(response, { code: 'invalid', message: 'not a path' }, statusOf.invalid)
    if (url.pathname === '/end') {
      if (request.method === 'POST') return void response.end('{}', () => events.onEndOrdered())
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
      return response.writeHead(200).flushHeaders()
    }
    events.onUse(1)
    response.once('close', () => events.onUse(-1))
    const call = { keeper, request, response, query: url.searchParams }
    serve(call, url.pathname).catch((error: unknown) => refuse(call, error, events.log))
  })
  // A process may take hours to read what a request sends it.
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.keepAliveTimeout = 0
  return {
    server,
    announceEnd: async () => {
      await Promise.all([...waiting].map((response) => new Promise<void>((end) => response.end(end))))
    },
  }
}

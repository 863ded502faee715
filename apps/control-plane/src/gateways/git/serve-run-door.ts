/**
 * The doors of a Run beside git: `/model/<provider>/…` adds the organization's key outside the Dock and counts tokens,
 * `/report` takes what the agent says about its work. Both are closed to every Dock that no Run drives.
 */
import { type IncomingMessage, request as requestPlainly, type ServerResponse } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { BootedDock } from '../../modules/docks/index.ts'
import { createUsageReader, type RunAtDoor, type RunDoor, reportBytesMax } from '../../modules/runs/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** Base URLs of the providers, without a trailing slash. */
export type ModelServers = Readonly<Record<string, string>>

const modelBodyBytesMax = 32 * 1024 * 1024
const silenceMs = 10 * 60_000
/** Paths by which a model is used. Others could read or change things of the organization. */
const modelPath =
  /^\/model\/([a-z]+)(\/v1\/(?:messages|messages\/count_tokens|chat\/completions|responses|models))$/
const passedRequestHeaders = [
  'accept',
  'content-type',
  'user-agent',
  'anthropic-version',
  'anthropic-beta',
] as const
const passedResponseHeaders = ['content-type', 'cache-control', 'retry-after', 'request-id'] as const

/** Returns true for a request that is none of git's. */
export function isRunRequest(url: string): boolean {
  return url === '/report' || url.startsWith('/model/')
}

export function createServeRunDoor(parts: { door: RunDoor; servers: ModelServers }) {
  const { door, servers } = parts

  const report = async (
    run: RunAtDoor,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    if (request.method !== 'POST') throw new DoorRefusal(405, 'Send the report with POST.')
    const text = (await readAll(request, reportBytesMax)).toString('utf8')
    await door.report(run, text)
    response.writeHead(204, { connection: 'close' }).end()
  }

  const model = async (run: RunAtDoor, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, provider = '', path = ''] = modelPath.exec((request.url ?? '').split('?')[0] ?? '') ?? []
    const base = servers[provider]
    if (base === undefined) throw new DoorRefusal(404, 'There is no such model door.')
    if (!run.mayUseModels) throw new DoorRefusal(403, 'The Environment of this Run passes no model on.')
    // 403 and not 429: an agent would repeat the request.
    if (run.isBudgetSpent) throw new DoorRefusal(403, 'The budget of this Run is spent.')
    const key = await door.modelKey(run, provider)
    if (key === null) throw new DoorRefusal(403, `The organization has no key of ${provider}.`)
    const sent = await readAll(request, modelBodyBytesMax)
    const { body, name } = prepareBody(path, sent)
    const target = new URL(`${base}${path}`)
    const answer = await send(target, request, body, authorizationOf(provider, key))
    const isStream = answer.headers['content-type']?.startsWith('text/event-stream') ?? false
    const usage = createUsageReader(isStream, body.length)
    const passed: Record<string, string> = { connection: 'close' }
    for (const each of passedResponseHeaders) {
      const value = answer.headers[each]
      if (typeof value === 'string') passed[each] = value
    }
    response.writeHead(answer.statusCode ?? 502, passed)
    try {
      for await (const chunk of answer) {
        usage.take(chunk as Buffer)
        if (!response.write(chunk)) await drained(response)
        if (response.destroyed) break
      }
    } finally {
      answer.destroy()
      if (answer.statusCode === 200 && path !== '/v1/models') await door.count(run, name, usage.end())
    }
    response.end()
  }

  return async (dock: BootedDock, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const run = await door.find(dock)
    if (!run) throw new DoorRefusal(403, 'No Run drives this Dock, so this door is closed.')
    return request.url === '/report' ? report(run, request, response) : model(run, request, response)
  }
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once('drain', resolve).once('close', resolve)
  })

const readAll = async (request: IncomingMessage, bytesMax: number): Promise<Buffer> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request) {
    length += (piece as Buffer).length
    if (length > bytesMax) throw new DoorRefusal(413, `The request has more than ${bytesMax} bytes.`)
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces)
}

/** Returns the name of the model, and the body. A stream of chat completions tells its usage only if it is asked to. */
const prepareBody = (path: string, sent: Buffer): { body: Buffer; name: string } => {
  if (sent.length === 0) return { body: sent, name: '' }
  let parsed: unknown
  try {
    parsed = JSON.parse(sent.toString('utf8'))
  } catch {
    throw new DoorRefusal(400, 'The request is no JSON.')
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new DoorRefusal(400, 'The request is no JSON object.')
  const asked = parsed as { model?: unknown; stream?: unknown; stream_options?: object }
  const name = typeof asked.model === 'string' ? asked.model : ''
  if (path !== '/v1/chat/completions' || asked.stream !== true) return { body: sent, name }
  const told = { ...asked, stream_options: { ...asked.stream_options, include_usage: true } }
  return { body: Buffer.from(JSON.stringify(told)), name }
}

const authorizationOf = (provider: string, key: string): Record<string, string> =>
  provider === 'anthropic' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }

/** Sends the request to the provider. Redirects are not followed, so that the key reaches no other server. */
const send = async (
  target: URL,
  request: IncomingMessage,
  body: Buffer,
  authorization: Record<string, string>,
): Promise<IncomingMessage> => {
  const headers: Record<string, string> = { ...authorization, 'content-length': String(body.length) }
  for (const name of passedRequestHeaders) {
    const value = request.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  const open = target.protocol === 'https:' ? requestSecurely : requestPlainly
  const outgoing = open(target, {
    method: request.method ?? 'POST',
    headers,
    timeout: silenceMs,
    agent: false,
  })
  outgoing.once('timeout', () => outgoing.destroy(new Error('no data for too long')))
  request.socket.once('close', () => outgoing.destroy())
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  outgoing.once('response', resolve).on('error', reject)
  outgoing.end(body)
  return promise.catch((error: unknown) => {
    throw new DoorRefusal(502, 'The provider of the model could not be reached. Try again.', { cause: error })
  })
}

/**
 * The doors of a Run beside git: `/model/<provider>/…` adds the organization's key outside the Dock and counts tokens,
 * `/report` takes what the agent says about its work. Both are closed to every Dock that no Run drives.
 */
import { type IncomingMessage, request as requestPlainly, type ServerResponse } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { createJsonCounter } from '@dock/foundation'
import type { BootedDock } from '../../modules/docks/index.ts'
import {
  costMicroUsd,
  createBudgetGate,
  createUsageReader,
  estimateUnseenTokens,
  type RunAtDoor,
  type RunDoor,
  reportBytesMax,
  type UsageReader,
} from '../../modules/runs/index.ts'
import { DoorRefusal } from './door-refusal.ts'
import { prepareModelRequest } from './prepare-model-request.ts'
import { createTurns } from './turns.ts'

/** Base URLs of the providers, without a trailing slash. */
export type ModelServers = Readonly<Record<string, string>>

const modelBodyBytesMax = 32 * 1024 * 1024
/** Far more than an agent needs. Text within strings does not count. */
const modelBodyValuesMax = 250_000
/** Larger bodies are parsed one at a time. */
const quickBodyBytesMax = 256 * 1024
const silenceMs = 10 * 60_000
/** Paths by which a model is used. Other paths could read or change data of the organization. */
const modelPath =
  /^\/model\/([a-z]+)(\/v1\/(?:messages|messages\/count_tokens|chat\/completions|responses|models))$/
/** All other paths take POST. With GET, some providers list what the whole organization has asked, or return it. */
const readPaths: ReadonlySet<string> = new Set(['/v1/models'])
const freePaths: ReadonlySet<string> = new Set(['/v1/models', '/v1/messages/count_tokens'])
const passedRequestHeaders = [
  'accept',
  'content-type',
  'user-agent',
  'anthropic-version',
  'anthropic-beta',
] as const
const passedResponseHeaders = ['content-type', 'cache-control', 'retry-after', 'request-id'] as const

/** Returns true for a request that is not from git. */
export function isRunRequest(url: string): boolean {
  return url === '/report' || url.startsWith('/model/')
}

export function createServeRunDoor(parts: { door: Omit<RunDoor, 'modelProviders'>; servers: ModelServers }) {
  const { door, servers } = parts
  const gate = createBudgetGate()
  const takeTurn = createTurns()

  const report = async (
    run: RunAtDoor,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    requireMethod(request, ['POST'])
    const text = (await readAll(request, reportBytesMax)).toString('utf8')
    await door.report(run, text)
    response.writeHead(204, { connection: 'close' }).end()
  }

  const model = async (run: RunAtDoor, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, provider = '', path = ''] = modelPath.exec((request.url ?? '').split('?')[0] ?? '') ?? []
    const base = servers[provider]
    if (base === undefined) throw new DoorRefusal(404, 'There is no such model door.')
    requireMethod(request, readPaths.has(path) ? ['GET', 'HEAD'] : ['POST'])
    if (!run.mayUseModels) throw new DoorRefusal(403, 'The Environment of this Run passes no model on.')
    const key = await door.modelKey(run, provider)
    if (key === null) throw new DoorRefusal(403, `The organization has no key of ${provider}.`)
    const sent = await readAll(request, modelBodyBytesMax, modelBodyValuesMax)
    const prepare = () => prepareModelRequest(path, sent)
    const prepared = sent.length > quickBodyBytesMax ? takeTurn(prepare) : prepare()
    const { body, name, inputTokensMax, outputTokensMax, isStream } = await prepared
    const isFree = freePaths.has(path)
    const use = { input: inputTokensMax, output: outputTokensMax, toolCalls: 0 }
    const leave = await gate.enter({
      runId: run.runId,
      costMicroUsd: isFree ? 0 : costMicroUsd(name, use),
      readLeft: () => door.budgetLeft(run),
      signal: abortedOnClose(request),
    })
    // 403 and not 429: an agent would repeat the request.
    if (!leave) throw new DoorRefusal(403, 'The budget of this Run is spent.')
    const startedAt = performance.now()
    try {
      const target = new URL(`${base}${path}`)
      const answer = await send(target, request, body, authorizationOf(provider, key)).catch(
        async (error: unknown) => {
          // The agent gave up. The provider takes money for what it has read, and without a stream it works on.
          if (request.socket.destroyed && !isFree) {
            const written = isStream ? estimateUnseenTokens(startedAt) : use.output
            await door.count(run, name, { ...use, output: Math.min(written, use.output) })
          }
          throw error
        },
      )
      const usage = createUsageReader(isEventStream(answer), use, startedAt)
      try {
        await pass(answer, response, usage)
      } finally {
        answer.destroy()
        if (answer.statusCode === 200 && !isFree) await door.count(run, name, usage.end())
      }
    } finally {
      leave()
    }
    response.end()
  }

  return async (dock: BootedDock, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const run = await door.find(dock)
    if (!run) throw new DoorRefusal(403, 'No Run drives this Dock, so this door is closed.')
    return request.url === '/report' ? report(run, request, response) : model(run, request, response)
  }
}

const requireMethod = ({ method }: IncomingMessage, allowed: readonly string[]): void => {
  if (!allowed.includes(method ?? ''))
    throw new DoorRefusal(405, `Send this request with ${allowed.join(' or ')}.`, { allow: allowed })
}

const isEventStream = ({ headers }: IncomingMessage): boolean =>
  headers['content-type']?.startsWith('text/event-stream') ?? false

/** Passes the response on as it comes. */
const pass = async (answer: IncomingMessage, response: ServerResponse, usage: UsageReader): Promise<void> => {
  const passed: Record<string, string> = { connection: 'close' }
  for (const each of passedResponseHeaders) {
    const value = answer.headers[each]
    if (typeof value === 'string') passed[each] = value
  }
  response.writeHead(answer.statusCode ?? 502, passed)
  for await (const chunk of answer) {
    usage.take(chunk as Buffer)
    if (!response.write(chunk)) await drained(response)
    if (response.destroyed) break
  }
}

const abortedOnClose = ({ socket }: IncomingMessage): AbortSignal => {
  const controller = new AbortController()
  if (socket.destroyed) controller.abort()
  else socket.once('close', () => controller.abort())
  return controller.signal
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

/** Reads the body. `valuesMax` limits how much JSON it may be. */
const readAll = async (
  request: IncomingMessage,
  bytesMax: number,
  valuesMax = Number.POSITIVE_INFINITY,
): Promise<Buffer> => {
  const pieces: Buffer[] = []
  const count = createJsonCounter()
  let length = 0
  for await (const piece of request) {
    length += (piece as Buffer).length
    if (length > bytesMax) throw new DoorRefusal(413, `The request has more than ${bytesMax} bytes.`)
    if (count(piece as Buffer) > valuesMax)
      throw new DoorRefusal(400, `The request has more than ${valuesMax} values. Shorten it.`)
    pieces.push(piece as Buffer)
  }
  return Buffer.concat(pieces)
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

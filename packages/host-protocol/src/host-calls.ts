/** The control plane's client: a typed function for each call of the table ({@link routes}). */
import { type Duplex, Readable } from 'node:stream'
import * as z from 'zod'
import type { AgentLink, AgentStream } from './accept-link.ts'
import { bindArrived, type DialBackListener } from './dial-back.ts'
import type { LinkChannel } from './dial-link.ts'
import { encodeMessage } from './length-prefixed.ts'
import { HostRefused, LinkTimeout } from './link-errors.ts'
import { readAtMost, shortBodyBytesMax } from './read-at-most.ts'
import { readLines } from './read-lines.ts'
import { refusalOf } from './refusal-of.ts'
import type { CallOptions, HostCall, Route } from './route.ts'
import { routes } from './routes.ts'

type Called = Omit<typeof routes, 'events'>

/**
 * The calls by name. Each validates what it sends and what it returns. It throws HostRefused if the agent refused, or if the
 * answer is not in the protocol (code `failed`); HostUnreachable if the link broke or `timeoutMs` elapsed.
 */
export type HostCalls = { [Name in keyof Called]: HostCall<Called[Name]> }

export type ClientParts = {
  /** Returns the host's link of a channel. Throws HostNotLinked. */
  link(hostId: string, channel: LinkChannel): AgentLink
  /** Returns a promise if orders to the host must wait for it. */
  untilOrdersMayGo(hostId: string): Promise<void> | undefined
  /** Returns the epoch of the instance, which some orders carry. */
  epoch(): number
  dialBacks: DialBackListener
}

type Target = { hostId: string } & Record<string, unknown>
/** A call that is about to be sent. */
type Sent = {
  link: AgentLink
  path: string
  body: unknown
  bytes: AsyncIterable<Uint8Array> | undefined
  timeoutMs: number | undefined
  signal: AbortSignal | undefined
}
type Arguments = { query: unknown; body: unknown; bytes: AsyncIterable<Uint8Array> | undefined } & CallOptions

/** Creates the functions once, with everything that does not change from call to call. */
export function createHostCalls(parts: ClientParts): HostCalls {
  const { events, ...called } = routes
  const calls = Object.entries(called).map(([name, route]) => [name, createCall(route, parts)])
  return Object.fromEntries(calls) as HostCalls
}

const createCall = (route: Route, parts: ClientParts) => {
  const pathOf = pathWriter(route)
  const { kind, channel, isOrder, timeoutMs } = route
  const sentOf = (target: Target, given: Arguments): Sent => {
    const { query, body, bytes, signal } = given
    const ms = typeof timeoutMs === 'function' ? timeoutMs((query ?? body) as never) : timeoutMs
    return {
      link: parts.link(target.hostId, channel),
      path: pathOf(target, query),
      body: bodyOf(route, body, parts),
      bytes,
      timeoutMs: ms ?? undefined,
      signal,
    }
  }
  const argumentsOf = argumentReader(route)
  if (kind === 'lines') {
    return async function* (target: Target, ...given: unknown[]) {
      const { stream } = await openStream(route, sentOf(target, argumentsOf(given)))
      yield* readLines(stream, route.answer ?? done)
    }
  }
  const send = senders[kind]
  return async (target: Target, ...given: unknown[]) => {
    if (isOrder) await parts.untilOrdersMayGo(target.hostId)
    return send(route, sentOf(target, argumentsOf(given)), parts)
  }
}

/** Returns a function that names the arguments after the target. */
const argumentReader =
  ({ query, body, kind }: Route) =>
  (given: readonly unknown[]): Arguments => {
    let at = 0
    return {
      query: query ? given[at++] : undefined,
      body: body ? given[at++] : undefined,
      bytes: kind === 'upload' ? (given[at++] as AsyncIterable<Uint8Array>) : undefined,
      ...(given[at] as CallOptions | undefined),
    }
  }

/** Returns a function that writes the path of a call, and its query. */
const pathWriter = ({ path }: Route) => {
  const pieces = path.split(/:(\w+)/)
  return (target: Target, query: unknown): string => {
    let written = ''
    for (const [at, piece] of pieces.entries())
      written += at % 2 === 0 ? piece : encodeURIComponent(String(target[piece]))
    if (query === undefined) return written
    const given = Object.entries(query as object).filter(([, value]) => value !== undefined)
    return given.length === 0 ? written : `${written}?${new URLSearchParams(given)}`
  }
}

const bodyOf = ({ body, carriesEpoch }: Route, given: unknown, { epoch }: ClientParts): unknown =>
  body?.parse(carriesEpoch ? { ...(given as object), epoch: epoch() } : given)

/** The query stays out: it can name a file of a Dock. */
const notInProtocol = (path: string): HostRefused =>
  new HostRefused('failed', `the host's response to ${path.split('?')[0]} is not in the protocol`)

/** The answer of a call that returns nothing. */
const done = z.looseObject({})

const answerOf = ({ answer }: Route, path: string, read: () => unknown): unknown => {
  let value: unknown
  try {
    value = read()
  } catch {
    throw notInProtocol(path)
  }
  const parsed = (answer ?? done).safeParse(value)
  if (!parsed.success) throw notInProtocol(path)
  return answer ? parsed.data : undefined
}

/** Returns the open response. Throws HostRefused for a status other than 200. */
const openStream = async (
  { method }: Route,
  { link, path, body, signal }: Omit<Sent, 'bytes'>,
): Promise<AgentStream> => {
  const answer = await link.stream(method, path, { body, signal })
  if (answer.status === 200) return answer
  // A refusal that is too long is treated like an unreadable one.
  throw refusalOf(answer.status, (await readAtMost(answer.stream, shortBodyBytesMax)) ?? '')
}

const callForJson = async (route: Route, { link, path, ...sent }: Sent): Promise<unknown> => {
  const answer = await link.request(route.method, path, sent)
  if (answer.status < 200 || answer.status > 299) throw refusalOf(answer.status, answer.body.toString('utf8'))
  return answerOf(route, path, answer.json)
}

const readBytes = async (route: Route, sent: Sent): Promise<object> => {
  const { headers, stream } = await openStream(route, sent)
  const told = Object.entries(route.headers).map(([name, header]) => [name, Number(headers[header])] as const)
  if (!told.every(([, value]) => Number.isSafeInteger(value) && value >= 0)) {
    stream.destroy()
    throw notInProtocol(sent.path)
  }
  return { ...Object.fromEntries(told), body: stream }
}

const upload = async (route: Route, { body, bytes, ...sent }: Sent): Promise<unknown> => {
  let failure: unknown
  async function* whole(): AsyncGenerator<Uint8Array> {
    if (route.body) yield Buffer.from(`${JSON.stringify(body)}\n`)
    try {
      yield* bytes ?? []
    } catch (error) {
      failure = error
      throw error
    }
  }
  const isWhole = !route.body && bytes instanceof Readable
  const stream = isWhole ? bytes : Readable.from(whole(), { objectMode: false })
  const answer = await openStream(route, { ...sent, body: stream }).catch(
    // An error of the source explains more than the aborted request that it causes.
    (error: unknown) => Promise.reject(failure ?? error),
  )
  const text = await readAtMost(answer.stream, shortBodyBytesMax)
  return answerOf(route, sent.path, () => JSON.parse(text ?? ''))
}

const connect = async (route: Route, sent: Sent, { dialBacks }: ClientParts): Promise<Duplex> => {
  const { link, path, body, timeoutMs = 0 } = sent
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(new LinkTimeout(timeoutMs)), timeoutMs)
  const { dialsBack } = route
  const mayDialBack = typeof dialsBack === 'function' ? dialsBack(body as never) : dialsBack
  const expected = mayDialBack ? dialBacks.expect() : null
  try {
    const asked = await link.connect(path, {
      signal: waiting.signal,
      ...(expected ? { ticket: expected.ticket } : {}),
      ...(route.body ? { first: encodeMessage(Buffer.from(JSON.stringify(body))) } : {}),
    })
    if (!expected?.socket) return asked
    bindArrived(expected.socket, asked)
    return expected.socket
  } catch (error) {
    expected?.socket?.destroy()
    throw error
  } finally {
    expected?.forget()
    clearTimeout(timer)
  }
}

const senders = { json: callForJson, bytes: readBytes, upload, connection: connect, events: openStream }

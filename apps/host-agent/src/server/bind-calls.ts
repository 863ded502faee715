/** Serves the calls of the host protocol: reads what arrives as the table of calls says, and passes it to the handlers. */
import { Readable } from 'node:stream'
import { bodyOf, readableOf } from '@dock/foundation'
import { type Caller, type Handler, type Route, routes } from '@dock/host-protocol'
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { asLines, splitHead } from './disk-streams.ts'
import { parse, readBody, targetReader } from './read-request.ts'

type Routes = typeof routes
/** The agent's handlers by the name of their call. A missing handler is a type error. */
export type Handlers = { [Name in keyof Routes]: Handler<Routes[Name]> }
/** Any handler. The table says what it gets and returns. */
type AnyHandler = (target: object, ...arrived: unknown[]) => unknown

/**
 * Fits a start command with 1 MiB of secret files of an Environment, encoded as JSON, and the chunk positions of a disk of
 * 2 TiB.
 */
const bodyBytesMax = 8 * 1024 * 1024

const octets = 'application/octet-stream'
const lines = 'application/x-ndjson'
const streamed = (body: ReadableStream<Uint8Array>, contentType: string, headers: object = {}): Response =>
  new Response(body, { headers: { 'content-type': contentType, ...headers } })

/** Adds a route to `app` for every call that is no connection. */
export function bindCalls(app: Hono, handlers: Handlers): void {
  const limited = bodyLimit({ maxSize: bodyBytesMax })
  for (const [name, route] of Object.entries<Route>(routes)) {
    if (route.kind === 'connection') continue
    const handler = handlers[name as keyof Handlers] as AnyHandler
    const serve = serverOf(route, handler)
    // An upload sends a whole disk.
    if (route.kind === 'upload') app.on(route.method, route.path, serve)
    else app.on(route.method, route.path, limited, serve)
  }
}

const serverOf = (route: Route, handler: AnyHandler) => {
  const targetOf = targetReader(route)
  const respond = responders[route.kind as Exclude<Route['kind'], 'connection'>]
  return async (context: Context): Promise<Response> => {
    const target = targetOf((name) => context.req.param(name))
    const arrived: unknown[] = []
    if (route.query) arrived.push(parse(route.query, context.req.query()))
    if (route.kind === 'upload') arrived.push(...(await readUpload(route, context)))
    else if (route.body) arrived.push(await readBody(context, route.body))
    const caller: Caller = { signal: context.req.raw.signal }
    return respond(context, route, await handler(target, ...arrived, caller))
  }
}

/** Returns the line of JSON, if the call has one, and the bytes that follow. */
const readUpload = async ({ body: schema }: Route, { req }: Context): Promise<unknown[]> => {
  const { body } = req.raw
  if (!schema) return [body ? readableOf(body) : Readable.from([])]
  const { head, rest } = await splitHead(body)
  return [parse(schema, head), rest]
}

// biome-ignore lint/suspicious/noExplicitAny: the table says what each kind of call returns.
type Respond = (context: Context, route: Route, answer: any) => Response

const json: Respond = (context, { answer: schema }, answer: object) => context.json(schema ? answer : {})

const responders: Record<Exclude<Route['kind'], 'connection'>, Respond> = {
  json,
  upload: json,
  lines: (_context, _route, items: AsyncIterable<readonly object[]>) =>
    streamed(bodyOf(asLines(items)), lines),
  bytes: (_context, { headers }, { body, ...told }: Record<string, unknown> & { body: ReadableStream }) =>
    streamed(
      body,
      octets,
      Object.fromEntries(Object.entries(headers).map(([name, header]) => [header, String(told[name])])),
    ),
  events: (_context, _route, events: ReadableStream<Uint8Array>) => streamed(events, lines),
}

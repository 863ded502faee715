/**
 * The MCP server over HTTP. Its tools call the API in this process with the key of the request, so they have the rights of
 * the key and pass every check that other callers pass. Each request is complete in itself: there are no sessions.
 */
import { type PersonAccess, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'
import type { Hono } from 'hono'
import type { Credentials } from './credentials.ts'
import { callerBodyBytesMax, readJsonBody } from './read-body.ts'
import type { HttpEnvironment } from './request-context.ts'

export type McpEndpointOptions = {
  credentials: Credentials
  logger: Logger
  apiUrl: string
  /** Origins whose pages may send requests. */
  origins: readonly string[]
  /** Throws `rate_limited` if the user has sent too many requests. */
  countRequest(userId: string): Promise<void>
}

const path = '/mcp'
const access: PersonAccess = { credentials: 'caller', scope: 'person' }
/** Loaded by the first request: most instances serve no agents, and the libraries need 6 MiB. */
const load = async () => {
  const [{ createMcpServer }, { createClient }, { createMcpHandler }] = await Promise.all([
    import('@dock/mcp'),
    import('@dock/sdk'),
    import('@modelcontextprotocol/server'),
  ])
  return { createMcpServer, createClient, createMcpHandler }
}

const bearer = /^Bearer +([^\s]+) *$/i

/**
 * Refuses pages of other sites. A page that a person visits must not reach a service on the person's network, whatever the
 * name of the page resolves to by now.
 */
const requireOwnOrigin = (request: Request, origins: readonly string[]): void => {
  const origin = request.headers.get('origin')
  if (origin !== null && !origins.includes(origin))
    throw new ServiceError('forbidden', {
      message: 'Pages of other sites may not use this address. Connect from a program.',
    })
}

export function addMcpEndpoint(app: Hono<HttpEnvironment>, options: McpEndpointOptions): void {
  const { credentials, logger, apiUrl, origins } = options

  app.all(path, async (context) => {
    context.set('route', path)
    const request = context.req.raw
    // A `Request` of the Fetch standard cannot have this method.
    if (request.method === 'TRACE') throw new ServiceError('not_found')
    requireOwnOrigin(request, origins)
    const apiKey = bearer.exec(request.headers.get('authorization') ?? '')?.[1]
    if (apiKey === undefined) {
      context.header('www-authenticate', 'Bearer')
      throw new ServiceError('unauthorized', {
        message: 'Send an API key as `Authorization: Bearer dock_…`. Create one with POST /v1/api-keys.',
      })
    }
    const caller = await credentials.check(request, access, {})
    context.set('callerId', caller.userId)
    // Most requests call the API, which has limits of its own; those that do not would have none.
    await options.countRequest(caller.userId)
    const clientAddress = context.get('clientAddress')
    const { createMcpServer, createClient, createMcpHandler } = await load()
    const client = createClient({
      baseUrl: apiUrl,
      apiKey,
      retries: 1,
      // The API sees the address of the caller, and no socket.
      fetch: async (url, init) =>
        app.fetch(new Request(url, init), { incoming: { socket: { remoteAddress: clientAddress } } }),
    })
    const handler = createMcpHandler(() => createMcpServer({ client }), {
      onerror: (error) => logger.debug({ err: error }, 'an MCP request was refused'),
      keepAliveMs: 0,
    })
    const isPost = request.method === 'POST'
    const parsedBody = isPost ? await readJsonBody(request, callerBodyBytesMax, true) : undefined
    return handler.fetch(
      new Request(request.url, { method: request.method, headers: request.headers, signal: request.signal }),
      isPost ? { parsedBody } : {},
    )
  })
}

/**
 * The control plane's end of the git doors of Docks. git in a Dock speaks HTTP to the Dock's gateway address, and the host
 * forwards the bytes to this process. The Dock is identified by its host and connection, never by what the client sends.
 * Requests that the Dock's policy allows are forwarded to the provider with a credential that the Dock never sees.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { limits } from '@dock/contract'
import type { Logger } from '@dock/foundation'
import {
  findPushRefusal,
  findRule,
  type GitGrant,
  type GitRule,
  type GrantFor,
  ProviderUnavailable,
} from '../../modules/connectors/index.ts'
import type { BootedDock, OrganizationOf } from '../../modules/docks/index.ts'
import { cloneUrl, type GitServers } from '../../modules/environments/index.ts'
import {
  type GitConnected,
  type HostGateway,
  HostRefused,
  HostUnreachable,
} from '../../modules/hosts/index.ts'
import { createDoorPlaces } from './door-places.ts'
import { DoorRefusal, sendRefusal } from './door-refusal.ts'
import { forwardToProvider } from './forward-to-provider.ts'
import { type GitRequest, readGitRequest } from './git-request.ts'
import { formatRejectionReport, readPushHead } from './receive-pack.ts'
import { type createServeRunDoor, isRunRequest } from './serve-run-door.ts'

export type ServeRun = ReturnType<typeof createServeRunDoor>

const { headerBytesMax } = limits.http
/** How often a push under way is checked again. */
const recheckMs = 500
/** A refused push is read to its end up to this size. git shows the reason only after it has sent everything. */
const refusedBytesMax = 1024 * 1024 * 1024

export type GitDoorTimes = {
  /** Timeout for the request's headers, from the start of the connection. Also the timeout for the head of a push. */
  headMs: number
  /** Timeout for a whole request. */
  requestMs: number
  /** Maximum duration of a refused connection. */
  refusedMs: number
  /** How long git may keep the connection open after the end of the response. */
  lingerMs: number
}
const usualTimes: GitDoorTimes = {
  headMs: 15_000,
  requestMs: 60 * 60_000,
  refusedMs: 5_000,
  lingerMs: 120_000,
}

export type GitDoor = {
  /** Starts to serve a connection that a host reported. */
  take(hostId: string, connection: GitConnected): void
  /** Closes all connections immediately. */
  close(): void
}

type Served = {
  dock: BootedDock
  /** The refusal to send to every request on this connection; null if requests are served. */
  refusal: DoorRefusal | null
  /** Must be called when a request arrives. Stops the header timeout. */
  begin(): void
}

/** Reads and discards the rest of a request. Throws {@link DoorRefusal} if it is too long. */
const discard = async (request: IncomingMessage): Promise<void> => {
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > refusedBytesMax)
      throw new DoorRefusal(413, 'The push was refused. It is too large to report the reason.')
  }
}

export function createGitDoor(parts: {
  logger: Logger
  hosts: Pick<HostGateway, 'connectGit'>
  servers: GitServers
  grantFor: GrantFor
  organizationOf: OrganizationOf
  /** Serves requests of Runs that are not from git. Omitted: there are no Runs. */
  serveRun?: ServeRun
  times?: Partial<GitDoorTimes>
}): GitDoor {
  const { logger, hosts, servers, grantFor } = parts
  const times = { ...usualTimes, ...parts.times }
  const places = createDoorPlaces(parts.organizationOf)
  const served = new WeakMap<object, Served>()
  const open = new Set<Duplex>()

  /** Waits for `work`. Closes the connection if it takes too long. */
  const within = async <T>(
    milliseconds: number,
    { socket }: IncomingMessage,
    work: Promise<T>,
  ): Promise<T> => {
    const late = setTimeout(() => socket.destroy(), milliseconds).unref()
    return work.finally(() => clearTimeout(late))
  }

  const credentialFor = async (grant: GitGrant, rule: GitRule) => {
    try {
      return await grant.credentialFor(rule)
    } catch (error) {
      if (!(error instanceof ProviderUnavailable)) throw error
      throw new DoorRefusal(502, 'The provider issues no token at the moment. Try again.', { cause: error })
    }
  }

  /** Refuses a push if the policy refuses any part of it. Returns true if it sent the refusal. */
  const rejectPush = async (
    rule: GitRule,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<boolean> => {
    if (rule.branches === null) return false
    if (request.headers['content-encoding'] !== undefined)
      throw new DoorRefusal(
        415,
        'Compressed pushes are not supported, because this Dock may push only to certain branches.',
      )
    const head = await within(times.headMs, request, readPushHead(request))
    if (head.updates.every((each) => findPushRefusal(rule, each) === null)) return false
    await discard(request)
    response.writeHead(200, {
      'content-type': 'application/x-git-receive-pack-result',
      'cache-control': 'no-cache',
      connection: 'close',
    })
    response.end(formatRejectionReport(head, (each) => findPushRefusal(rule, each)))
    return true
  }

  /** Ends the connection as soon as its Dock has another rule: a push that has begun must not outlive its permission. */
  const endWithRule = (dock: BootedDock, rule: GitRule, { socket }: IncomingMessage): (() => void) => {
    const check = async (): Promise<void> => {
      const grant = await grantFor(dock)
      if (!isDeepStrictEqual(grant && findRule(grant.policy, rule), rule)) socket.destroy()
    }
    // If the check fails now, the next one follows.
    const timer = setInterval(() => void check().catch(() => undefined), recheckMs).unref()
    return () => clearInterval(timer)
  }

  const serve = async (
    dock: BootedDock,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    if (parts.serveRun && isRunRequest(request.url ?? '')) return parts.serveRun(dock, request, response)
    const asked: GitRequest = readGitRequest(request)
    const { repository, service, isDiscovery } = asked
    const grant = await grantFor(dock)
    const rule = grant && findRule(grant.policy, repository)
    const tail = isDiscovery ? `/info/refs?service=${service}` : `/${service}`
    if (!grant || !rule) {
      const refusal = `${repository.fullName} is not among the repositories of this Dock.`
      // The repository is not selected, or no longer. Redirect git to it, as if there were no door.
      if (isDiscovery && service === 'git-upload-pack')
        throw new DoorRefusal(302, refusal, { location: `${cloneUrl(servers, repository)}${tail}` })
      throw new DoorRefusal(403, refusal)
    }
    if (service === 'git-receive-pack') {
      if (rule.access !== 'write') throw new DoorRefusal(403, `This Dock may only read ${rule.fullName}.`)
      if (!isDiscovery && (await rejectPush(rule, request, response))) return
    }
    const credential = await credentialFor(grant, rule)
    const named = { provider: rule.provider, fullName: rule.nowNamed ?? rule.fullName }
    const target = new URL(`${cloneUrl(servers, named)}${tail}`)
    const isPush = service === 'git-receive-pack' && !isDiscovery
    const endChecks = isPush ? endWithRule(dock, rule, request) : null
    try {
      await forwardToProvider(request, response, { target, name: rule.fullName, credential })
    } catch (error) {
      if (!(error instanceof DoorRefusal) || !error.isOfCredential) throw error
      if (credential) grant.forget(credential)
      // Redirect git to the provider, where it may use a credential of its own, unless that would bypass a branch rule.
      else if (isDiscovery && (service === 'git-upload-pack' || rule.branches === null))
        throw new DoorRefusal(302, error.message, { location: target.href })
      throw error
    } finally {
      endChecks?.()
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const connection = served.get(request.socket)
    if (!connection) return void request.socket.destroy()
    const { dock, refusal } = connection
    connection.begin()
    try {
      if (refusal) throw refusal
      await within(times.requestMs, request, serve(dock, request, response))
    } catch (error) {
      const isRefusal = error instanceof DoorRefusal
      if (isRefusal && error.cause)
        logger.warn(
          { dockId: dock.dockId, err: error.cause },
          'could not forward a git request to the provider',
        )
      // git left, or, once the response has begun, git or the provider.
      else if (!isRefusal && !response.headersSent && !request.errored)
        logger.error({ dockId: dock.dockId, err: error }, 'a git request failed')
      sendRefusal(
        request,
        response,
        isRefusal ? error : new DoorRefusal(500, 'The request failed. Try again.'),
      )
    }
  }

  const server = createServer({ maxHeaderSize: headerBytesMax, keepAlive: false }, (request, response) => {
    void handle(request, response)
  })
  server.maxRequestsPerSocket = 1
  server.on('clientError', (_error, socket) => socket.destroy())

  const serveConnection = async (
    dock: BootedDock,
    connectionId: string,
    refusal: DoorRefusal | null,
  ): Promise<void> => {
    const stream = await hosts.connectGit({ hostId: dock.hostId, dockId: dock.dockId, connectionId })
    const cut = (): void => void stream.destroy()
    const late = setTimeout(cut, refusal ? times.refusedMs : times.headMs).unref()
    // A request does not extend the time of a refused connection.
    served.set(stream, { dock, refusal, begin: () => refusal ?? clearTimeout(late) })
    open.add(stream)
    const closed = new Promise<void>((resolve) => stream.once('close', resolve))
    stream.on('error', cut)
    let lingering: NodeJS.Timeout | undefined
    // The response is complete. git closes the connection now, but another client might not.
    stream.once('finish', () => {
      lingering = setTimeout(cut, times.lingerMs).unref()
    })
    server.emit('connection', stream)
    await closed
    clearTimeout(late)
    clearTimeout(lingering)
    open.delete(stream)
  }

  const take = async (dock: BootedDock, connectionId: string): Promise<void> => {
    const place = await places.take(dock)
    // The host closes a connection that is not requested within its timeout.
    if (!place) return
    try {
      await serveConnection(dock, connectionId, place.refusal)
    } finally {
      place.leave()
    }
  }

  return {
    take: (hostId, { dockId, generation, connectionId }) => {
      take({ dockId, hostId, generation }, connectionId).catch((error: unknown) => {
        if (error instanceof HostUnreachable || error instanceof HostRefused) return
        logger.error({ hostId, dockId, err: error }, 'could not serve a git connection')
      })
    },
    close: () => {
      for (const stream of open) stream.destroy()
    },
  }
}

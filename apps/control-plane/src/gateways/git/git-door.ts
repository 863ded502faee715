/**
 * The control plane's end of the git doors of Docks. git in a Dock speaks HTTP to its gateway address; the host passes the
 * bytes here; which Dock it is follows from the host and the connection, never from what is said. What the Dock's policy
 * lets pass goes on to the provider with a credential that the Dock never sees.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
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
  type HostConnections,
  HostRefused,
  HostUnreachable,
} from '../../modules/hosts/index.ts'
import { createDoorPlaces } from './door-places.ts'
import { DoorRefusal, sendRefusal } from './door-refusal.ts'
import { type GitRequest, readGitRequest } from './git-request.ts'
import { forwardToProvider } from './forward-to-provider.ts'
import { formatRejectionReport, readPushHead } from './receive-pack.ts'

const headerBytesMax = 16 * 1024
/** A push that is refused is read to its end, so that git sees why. */
const refusedBytesMax = 1024 * 1024 * 1024

export type GitDoorTimes = {
  /** From the connection to the end of the request's headers, and again for the head of a push. */
  headMs: number
  /** A whole request. */
  requestMs: number
  /** A connection that is refused, from its beginning to its end. */
  refusedMs: number
  /** From the last byte of an answer until git has ended the connection. */
  lingerMs: number
}
const usualTimes: GitDoorTimes = {
  headMs: 15_000,
  requestMs: 60 * 60_000,
  refusedMs: 5_000,
  lingerMs: 120_000,
}

export type GitDoor = {
  /** Begins to serve a connection that a host reported. */
  take(hostId: string, connection: GitConnected): void
  /** Cuts every connection. */
  close(): void
}

type Served = {
  dock: BootedDock
  /** Why no request is served on it. */
  refusal: DoorRefusal | null
  /** A request has come. */
  begin(): void
}

/** Reads the rest of a request and keeps nothing. Throws {@link DoorRefusal} when it is too long. */
const discard = async (request: IncomingMessage): Promise<void> => {
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > refusedBytesMax) throw new DoorRefusal(413, 'The push is refused, and too large to tell why.')
  }
}

export function createGitDoor(parts: {
  logger: Logger
  hosts: Pick<HostConnections, 'connectGit'>
  servers: GitServers
  grantFor: GrantFor
  organizationOf: OrganizationOf
  times?: Partial<GitDoorTimes>
}): GitDoor {
  const { logger, hosts, servers, grantFor } = parts
  const times = { ...usualTimes, ...parts.times }
  const places = createDoorPlaces(parts.organizationOf)
  const served = new WeakMap<object, Served>()
  const open = new Set<Duplex>()

  /** Waits for `work`, and cuts the connection when it takes too long. */
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
      throw new DoorRefusal(502, 'The provider gives no token at present. Try again.', { cause: error })
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
      throw new DoorRefusal(415, 'A compressed push does not pass: this Dock is bound to branches.')
    const head = await within(times.headMs, request, readPushHead(request))
    if (head.updates.every((each) => findPushRefusal(rule, each) === null)) return false
    await discard(request)
    response.writeHead(200, {
      ...{ 'content-type': 'application/x-git-receive-pack-result', 'cache-control': 'no-cache' },
      connection: 'close',
    })
    response.end(formatRejectionReport(head, (each) => findPushRefusal(rule, each)))
    return true
  }

  const serve = async (
    dock: BootedDock,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const asked: GitRequest = readGitRequest(request)
    const { repository, service, isDiscovery } = asked
    const grant = await grantFor(dock)
    const rule = grant && findRule(grant.policy, repository)
    const tail = isDiscovery ? `/info/refs?service=${service}` : `/${service}`
    if (!grant || !rule) {
      const refusal = `${repository.fullName} is not among the repositories of this Dock.`
      // Not selected, or no longer: git goes there itself, as it would without a door.
      if (isDiscovery && service === 'git-upload-pack')
        throw new DoorRefusal(302, refusal, { location: `${cloneUrl(servers, repository)}${tail}` })
      throw new DoorRefusal(403, refusal)
    }
    if (service === 'git-receive-pack') {
      if (rule.access !== 'write') throw new DoorRefusal(403, `This Dock may only read ${rule.fullName}.`)
      if (!isDiscovery && (await rejectPush(rule, request, response))) return
    }
    const credential = await credentialFor(grant, rule)
    const target = new URL(`${cloneUrl(servers, rule)}${tail}`)
    try {
      await forwardToProvider(request, response, { target, name: rule.fullName, credential })
    } catch (error) {
      if (!(error instanceof DoorRefusal) || !error.isOfCredential) throw error
      if (credential) grant.forget(credential)
      // git goes there itself, with whatever credential is in the Dock, unless it would pass by a rule of the door.
      else if (isDiscovery && (service === 'git-upload-pack' || rule.branches === null))
        throw new DoorRefusal(302, error.message, { location: target.href })
      throw error
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
        logger.warn({ dockId: dock.dockId, err: error.cause }, 'a git door could not pass a request on')
      // A stream that broke is git's, or the provider's, to know of.
      else if (!isRefusal && !response.headersSent)
        logger.error({ dockId: dock.dockId, err: error }, 'a git door failed')
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
    const stream = await hosts.connectGit(dock.hostId, dock.dockId, connectionId)
    const cut = (): void => void stream.destroy()
    const late = setTimeout(cut, refusal ? times.refusedMs : times.headMs).unref()
    // Who is refused has no more time for having asked.
    served.set(stream, { dock, refusal, begin: () => refusal ?? clearTimeout(late) })
    open.add(stream)
    const closed = new Promise<void>((resolve) => stream.once('close', resolve))
    stream.on('error', cut)
    let lingering: NodeJS.Timeout | undefined
    // The answer is written. git ends the connection now; another program may not.
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
    // Not asked for, it is closed by its host in a while.
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
        logger.error({ hostId, dockId, err: error }, 'a connection to a git door failed')
      })
    },
    close: () => {
      for (const stream of open) stream.destroy()
    },
  }
}

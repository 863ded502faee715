/**
 * The live links to hosts, and the calls that go over them. A host keeps two: `control` for commands and events,
 * `bulk` for bytes, so that a download delays no heartbeat. A newer session of a host replaces the older one.
 */
import { Readable } from 'node:stream'
import {
  type AgentLink,
  AgentRefusal,
  callAgent,
  captureDock,
  captured,
  captureTree,
  destroyCapture,
  destroyDock,
  execInDock,
  execOutcome,
  keepPool,
  type LinkChannel,
  LinkLost,
  refusalOf,
  setupDock,
  setupOutcome,
  startDock,
  startedDock,
  stopDock,
  stoppedDock,
} from '@dock/host-protocol'
import * as z from 'zod'
import { type HostGateway, HostRefused, HostUnreachable } from '../../modules/hosts/index.ts'

const startTimeoutMs = 120_000
const captureTimeoutMs = 300_000
const commandTimeoutMs = 60_000
const execGraceMs = 15_000
const empty = z.looseObject({})

export type FleetGateway = HostGateway & {
  /** Takes a link into use, in place of an older one of the same host and channel. */
  attach(hostId: string, channel: LinkChannel, link: AgentLink): void
  close(): void
}

/** Turns what a call ended with into what the modules know. */
const translated = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof LinkLost) throw new HostUnreachable(error.message, { cause: error })
    if (error instanceof AgentRefusal) throw new HostRefused(error.code, error.message)
    throw error
  }
}

export const createFleetGateway = (): FleetGateway => {
  const links: Record<LinkChannel, Map<string, AgentLink>> = { control: new Map(), bulk: new Map() }
  const link = (hostId: string, channel: LinkChannel = 'control'): AgentLink => {
    const found = links[channel].get(hostId)
    if (!found || found.isClosed) throw new HostUnreachable(`no ${channel} link to host ${hostId}`)
    return found
  }
  const call = async <Q extends z.ZodType, A extends z.ZodType>(
    hostId: string,
    path: string,
    request: Q | null,
    answer: A,
    body: z.input<Q> | undefined,
    options: { method?: string; timeoutMs: number },
  ): Promise<z.output<A>> => translated(callAgent(link(hostId), path, request, answer, body, options))
  const command = { timeoutMs: commandTimeoutMs }

  return {
    attach: (hostId, channel, fresh) => {
      links[channel].get(hostId)?.close(4000, 'replaced by a newer session')
      links[channel].set(hostId, fresh)
      fresh.onClose(() => {
        if (links[channel].get(hostId) === fresh) links[channel].delete(hostId)
      })
    },
    disconnect: (hostId, reason) => {
      for (const channel of [links.control, links.bulk]) channel.get(hostId)?.close(4001, reason)
    },
    close: () => {
      for (const channel of [links.control, links.bulk])
        for (const each of channel.values()) each.close(1001, 'going away')
    },
    linked: () => [...links.control].filter(([, each]) => !each.isClosed).map(([id]) => id),
    start: (host, dock, body) =>
      call(host, `/docks/${dock}/start`, startDock, startedDock, body, { timeoutMs: startTimeoutMs }),
    stop: (host, dock, body) =>
      call(host, `/docks/${dock}/stop`, stopDock, stoppedDock, body, { timeoutMs: captureTimeoutMs }),
    capture: (host, dock, body) =>
      call(host, `/docks/${dock}/capture`, captureDock, captured, body, { timeoutMs: captureTimeoutMs }),
    destroy: async (host, dock, body) => {
      await call(host, `/docks/${dock}/destroy`, destroyDock, empty, body, command)
    },
    destroyCapture: async (host, capture, operationId) => {
      await call(host, `/captures/${capture}/destroy`, destroyCapture, empty, { operationId }, command)
    },
    exec: (host, dock, body) =>
      call(host, `/docks/${dock}/exec`, execInDock, execOutcome, body, {
        timeoutMs: body.timeoutMs + execGraceMs,
      }),
    setup: (host, dock, body) =>
      call(host, `/docks/${dock}/setup`, setupDock, setupOutcome, body, {
        timeoutMs: body.timeoutMs + execGraceMs,
      }),
    keepPool: async (host, body) => {
      await call(host, '/pool', keepPool, empty, body, command)
    },
    tree: (host, capture) =>
      call(host, `/captures/${capture}/tree`, null, captureTree, undefined, { ...command, method: 'GET' }),
    file: async (host, capture, path) => {
      const query = new URLSearchParams({ path })
      const answer = await translated(link(host, 'bulk').stream('GET', `/captures/${capture}/files?${query}`))
      if (answer.status !== 200) {
        const text = (await answer.stream.toArray()).join('')
        return translated(Promise.reject(refusalOf(answer.status, text)))
      }
      const length = Number(answer.headers['content-length'])
      const body = Readable.toWeb(answer.stream) as ReadableStream<Uint8Array>
      return { size: Number.isSafeInteger(length) ? length : null, body }
    },
  }
}

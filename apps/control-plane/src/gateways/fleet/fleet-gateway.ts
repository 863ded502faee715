/**
 * The live links to hosts, and the calls over them. A host keeps two links: `control` for commands and events, `bulk`
 * for data, so that a download delays no heartbeat. A host's new link replaces its older link of the same channel.
 */
import { type Clock, Precedence, waitAtMost } from '@dock/foundation'
import {
  type AgentLink,
  type CallOptions,
  callAgent,
  captureDock,
  captured,
  captureNote,
  clonedRepositories,
  cloneRepositories,
  createDialBackDoor,
  type DialBackDoor,
  destroyCapture,
  destroyDock,
  execInDock,
  execOutcome,
  keepInstance,
  keepWarmPool,
  keptInstance,
  type LinkChannel,
  removeImage,
  setupDock,
  setupOutcome,
  startDock,
  startedDock,
  stopDock,
  stoppedDock,
  updateDockEnvironment,
} from '@dock/host-protocol'
import * as z from 'zod'
import { type HostGateway, HostNotLinked, HostUnreachable } from '../../modules/hosts/index.ts'
import { createCaptureCalls } from './capture-calls.ts'
import { createDockConnections } from './dock-connections.ts'
import { createKeptProcessCalls } from './kept-process-calls.ts'

const startTimeoutMs = 120_000
const captureTimeoutMs = 300_000
const commandTimeoutMs = 60_000
/** Added to a command's timeout: the runtime may take 30 s to kill the process tree before it reports the timeout. */
const execGraceMs = 45_000
const empty = z.looseObject({})

export type FleetGateway = HostGateway & {
  readonly dialBacks: DialBackDoor
  /** Starts to use a link. Closes an older link of the same host and channel. */
  attach(hostId: string, channel: LinkChannel, link: AgentLink): void
  /** Releases orders to the host. Call it when the first inventory over the host's current link is handled. */
  releaseOrders(hostId: string): void
  close(): void
}

/** `epoch` returns the instance's epoch, which destroy orders carry. Large streams of processes yield to `precedence`. */
export function createFleetGateway(
  clock: Clock,
  epoch: () => number,
  precedence: Precedence = new Precedence(),
): FleetGateway {
  const links: Record<LinkChannel, Map<string, AgentLink>> = { control: new Map(), bulk: new Map() }
  const dialBacks = createDialBackDoor()
  /** Callbacks that wait for a host's control link, by host. */
  const awaited = new Map<string, Set<() => void>>()
  const link = (hostId: string, channel: LinkChannel = 'control'): AgentLink => {
    const found = links[channel].get(hostId)
    if (!found || found.isClosed) throw new HostNotLinked(`no ${channel} link to host ${hostId}`)
    return found
  }
  const call = async <Q extends z.ZodType, A extends z.ZodType>(
    hostId: string,
    path: string,
    request: Q | null,
    answer: A,
    body: z.input<Q> | undefined,
    options: CallOptions & { timeoutMs: number },
  ): Promise<z.output<A>> => callAgent(link(hostId), path, request, answer, body, options)
  /** Pending first inventories, by host. An entry is removed when the inventory is handled. */
  const reports = new Map<string, PromiseWithResolvers<void>>()
  const untilReported = async (hostId: string, report: PromiseWithResolvers<void>): Promise<void> => {
    if ((await waitAtMost(clock, commandTimeoutMs, report.promise)) === 'late')
      throw new HostUnreachable(`host ${hostId} sent no inventory in time`)
  }
  /**
   * A call that changes data on a host. It waits for the first inventory, which shows whether the database is a
   * restored one that knows less than the host.
   */
  const order: typeof call = async (hostId, ...rest) => {
    const report = reports.get(hostId)
    if (report) await untilReported(hostId, report)
    return call(hostId, ...rest)
  }
  const command = { timeoutMs: commandTimeoutMs }
  const hostsWithLink = (channel: LinkChannel): string[] =>
    [...links[channel]].filter(([, each]) => !each.isClosed).map(([id]) => id)

  return {
    dialBacks,
    attach: (hostId, channel, fresh) => {
      links[channel].get(hostId)?.close(4000, 'replaced by a newer session')
      links[channel].set(hostId, fresh)
      if (channel === 'control') {
        const report = Promise.withResolvers<void>()
        reports.set(hostId, report)
        fresh.onClose(report.resolve)
      }
      if (channel === 'control') for (const wake of awaited.get(hostId) ?? []) wake()
      fresh.onClose(() => {
        if (links[channel].get(hostId) === fresh) links[channel].delete(hostId)
      })
    },
    releaseOrders: (hostId) => {
      reports.get(hostId)?.resolve()
      reports.delete(hostId)
    },
    disconnect: (hostId, reason) => {
      for (const channel of [links.control, links.bulk]) {
        channel.get(hostId)?.close(4001, reason)
        channel.delete(hostId)
      }
    },
    close: () => {
      for (const channel of [links.control, links.bulk])
        for (const each of channel.values()) each.close(1001, 'going away')
    },
    waitForControlLink: (hostId, withinMs) => {
      if (links.control.get(hostId)?.isClosed === false) return Promise.resolve(true)
      return new Promise((resolve) => {
        const waiting = awaited.get(hostId) ?? new Set()
        awaited.set(hostId, waiting)
        const end = (isLinked: boolean): void => {
          cancel()
          waiting.delete(wake)
          resolve(isLinked)
        }
        const wake = (): void => end(true)
        const cancel = clock.after(withinMs, () => end(false))
        waiting.add(wake)
      })
    },
    hostsWithControlLink: () => hostsWithLink('control'),
    hostsWithBulkLink: () => hostsWithLink('bulk'),
    start: (host, dock, body) =>
      order(host, `/docks/${dock}/start`, startDock, startedDock, body, { timeoutMs: startTimeoutMs }),
    stop: (host, dock, body) =>
      order(host, `/docks/${dock}/stop`, stopDock, stoppedDock, body, { timeoutMs: captureTimeoutMs }),
    capture: (host, dock, body) =>
      order(host, `/docks/${dock}/capture`, captureDock, captured, body, { timeoutMs: captureTimeoutMs }),
    destroy: async (host, dock, body) => {
      await order(host, `/docks/${dock}/destroy`, destroyDock, empty, { ...body, epoch: epoch() }, command)
    },
    destroyCapture: async (host, capture, operationId) => {
      const body = { operationId, epoch: epoch() }
      await order(host, `/captures/${capture}/destroy`, destroyCapture, empty, body, command)
    },
    removeImage: async (host, image, digest) => {
      await order(host, `/images/${image}/remove`, removeImage, empty, { digest, epoch: epoch() }, command)
    },
    readCaptureNote: (host, capture) =>
      call(host, `/captures/${capture}/note`, null, captureNote, undefined, { ...command, method: 'GET' }),
    exec: (host, dock, body, signal) => {
      const request = signal ? { ...body, endsWithCaller: true as const } : body
      const timeoutMs = body.timeoutMs + execGraceMs
      return call(host, `/docks/${dock}/exec`, execInDock, execOutcome, request, { timeoutMs, signal })
    },
    setup: (host, dock, body) =>
      call(host, `/docks/${dock}/setup`, setupDock, setupOutcome, body, {
        timeoutMs: body.timeoutMs + execGraceMs,
      }),
    furnish: async (host, dock, body) => {
      await call(host, `/docks/${dock}/environment`, updateDockEnvironment, empty, body, command)
    },
    cloneRepositories: (host, dock, body) =>
      call(host, `/docks/${dock}/repositories`, cloneRepositories, clonedRepositories, body, {
        timeoutMs: body.timeoutMs + execGraceMs,
      }),
    sendInstanceMemory: async (host, body) => {
      await call(host, '/instance', keepInstance, empty, body, command)
    },
    readInstanceMemory: (host) =>
      call(host, '/instance', null, keptInstance, undefined, { ...command, method: 'GET' }),
    keepWarmPool: async (host, body) => {
      await call(host, '/pool', keepWarmPool, empty, body, command)
    },
    ...createCaptureCalls(link),
    ...createDockConnections(link, dialBacks, precedence),
    ...createKeptProcessCalls(link),
  }
}

/**
 * The live links to hosts, and the calls over them. A host keeps two links: `control` for commands and events, `bulk`
 * for data, so that a download delays no heartbeat. A host's new link replaces its older link of the same channel.
 */
import { type Clock, newUuid, Precedence, waitAtMost } from '@dock/foundation'
import {
  type AgentLink,
  createDialBackListener,
  createHostCalls,
  type DialBackListener,
  type LinkChannel,
} from '@dock/host-protocol'
import {
  type HostGateway,
  HostNotLinked,
  HostUnreachable,
  type SignalName,
  type TerminalSize,
} from '../../modules/hosts/index.ts'
import { collectChunks } from './chunk-list.ts'
import { createRemoteProcess } from './remote-process.ts'

/** How long an order waits for the first inventory over a host's link. */
const reportTimeoutMs = 60_000

export type FleetGateway = HostGateway & {
  readonly dialBacks: DialBackListener
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
  const dialBacks = createDialBackListener()
  /** Callbacks that wait for a host's control link, by host. */
  const awaited = new Map<string, Set<() => void>>()
  const link = (hostId: string, channel: LinkChannel): AgentLink => {
    const found = links[channel].get(hostId)
    if (!found || found.isClosed) throw new HostNotLinked(`no ${channel} link to host ${hostId}`)
    return found
  }
  /** Pending first inventories, by host. An entry is removed when the inventory is handled. */
  const reports = new Map<string, PromiseWithResolvers<void>>()
  const untilReported = async (hostId: string, report: PromiseWithResolvers<void>): Promise<void> => {
    if ((await waitAtMost(clock, reportTimeoutMs, report.promise)) === 'late')
      throw new HostUnreachable(`host ${hostId} sent no inventory in time`)
  }
  const calls = createHostCalls({
    link,
    dialBacks,
    epoch,
    // The inventory shows whether the database was restored and knows less than the host.
    untilOrdersMayGo: (hostId) => {
      const report = reports.get(hostId)
      return report && untilReported(hostId, report)
    },
  })
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
    ...calls,
    nameChunks: (...sent) => collectChunks(calls.nameChunks(...sent)),
    nameImageChunks: (...sent) => collectChunks(calls.nameImageChunks(...sent)),
    openProcess: async (dock, { env = {}, waitsForOutputs, ...request }) => {
      const place = { ...dock, processId: newUuid() }
      const query = waitsForOutputs ? { waitsForOutputs: '1' as const } : {}
      const socket = await calls.openProcess(place, query, { ...request, env })
      const control = {
        resize: (size: TerminalSize) => calls.resizeProcess(place, size),
        signal: (signal: SignalName) => calls.signalProcess(place, { signal }),
      }
      return createRemoteProcess(place.processId, socket, control, precedence)
    },
  }
}

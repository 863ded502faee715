/** Calls for kept processes. Streams use the bulk link, so that they delay no command and no heartbeat. */
import {
  type AgentLink,
  callAgent,
  firstOffsetHeader,
  keptInput,
  keptProcess,
  keptProcesses,
  type LinkChannel,
  signalKeptProcess,
  startKeptProcess,
  startOffsetHeader,
  terminalSize,
} from '@dock/host-protocol'
import * as z from 'zod'
import type { HostKeptProcesses, KeptPlace } from '../../modules/hosts/index.ts'
import { HostRefused } from '../../modules/hosts/index.ts'
import { createHostRequests } from './ask-host.ts'
import { readAtMost, shortBodyBytesMax } from './read-at-most.ts'

const timeoutMs = 60_000
const empty = z.looseObject({})
const offset = z.coerce.number().int().min(0)

const pathOf = ({ dockId, processId }: Omit<KeptPlace, 'hostId'>): string =>
  `/docks/${dockId}/kept/${processId}`

/** `link` returns the host's link of a channel, or throws HostNotLinked. */
export function createKeptProcessCalls(
  link: (hostId: string, channel: LinkChannel) => AgentLink,
): HostKeptProcesses {
  const askInBulk = createHostRequests((hostId) => link(hostId, 'bulk'))
  const post = async <Q extends z.ZodType>(place: KeptPlace, verb: string, schema: Q, body: z.input<Q>) => {
    const path = `${pathOf(place)}/${verb}`
    await callAgent(link(place.hostId, 'control'), path, schema, empty, body, { timeoutMs })
  }
  const get = async <A extends z.ZodType>(hostId: string, path: string, answer: A, ms = 0) =>
    callAgent(link(hostId, 'control'), path, null, answer, undefined, {
      method: 'GET',
      timeoutMs: timeoutMs + ms,
    })
  return {
    startKept: async (hostId, dockId, request) =>
      callAgent(link(hostId, 'control'), `/docks/${dockId}/kept`, startKeptProcess, keptProcess, request, {
        timeoutMs,
      }),
    listKept: async (hostId, dockId) => (await get(hostId, `/docks/${dockId}/kept`, keptProcesses)).processes,
    readKept: (place) => get(place.hostId, pathOf(place), keptProcess),
    waitForKept: (place, ms) => get(place.hostId, `${pathOf(place)}/wait?ms=${ms}`, keptProcess, ms),
    signalKept: (place, signal) => post(place, 'signal', signalKeptProcess, signal),
    resizeKept: (place, size) => post(place, 'resize', terminalSize, size),
    closeKeptInput: (place) => post(place, 'stdin/close', empty, {}),
    openKeptOutput: async (place, stream, from) => {
      const query = `offset=${from.offset}&follow=${from.follow}`
      const path = `${pathOf(place)}/output/${stream}?${query}`
      const { headers, stream: body } = await askInBulk(place.hostId, 'GET', path)
      const told = z
        .tuple([offset, offset])
        .safeParse([headers[firstOffsetHeader], headers[startOffsetHeader]])
      if (!told.success) {
        body.destroy()
        throw new HostRefused('failed', 'the output is not in the protocol')
      }
      const [first, start] = told.data
      return { first, start, body }
    },
    writeKeptInput: async (place, at, body) => {
      const path = `${pathOf(place)}/stdin?offset=${at}`
      const { stream } = await askInBulk(place.hostId, 'POST', path, { body })
      const answer = await readAtMost(stream, shortBodyBytesMax)
      try {
        return keptInput.parse(JSON.parse(answer ?? ''))
      } catch {
        throw new HostRefused('failed', 'the answer is not in the protocol')
      }
    },
  }
}

/** Transfers disks to and from a host's agent: lists a disk's chunks, reads sealed chunks, sends a disk. */
import { Readable } from 'node:stream'
import { limits } from '@dock/contract'
import { chunkBytes } from '@dock/copy-format'
import { type NamedChunk, namedChunk, namedDisk, readLines } from '@dock/host-protocol'
import * as z from 'zod'
import { diskBytesOf, HostRefused } from '../../modules/hosts/index.ts'
import type { Ask } from './ask-host.ts'
import { readAtMost, shortBodyBytesMax } from './read-at-most.ts'

const headEnd = '\n'
const diskBytesMax = diskBytesOf(limits.diskGiB.max)

/**
 * Collects the list of a disk's chunks. A hostile host could send an endless list, so indexes must ascend and stay
 * below the disk's size.
 */
const createChunkList = () => {
  const named: { diskBytes: number; chunks: NamedChunk[] } = { diskBytes: 0, chunks: [] }
  const wrong = (): HostRefused => new HostRefused('failed', 'the list of chunks is not in the protocol')
  return {
    named,
    add: (line: NamedChunk | { diskBytes: number }): void => {
      if ('diskBytes' in line) {
        if (named.diskBytes !== 0 || line.diskBytes > diskBytesMax) throw wrong()
        named.diskBytes = line.diskBytes
        return
      }
      const last = named.chunks.at(-1)?.index ?? -1
      if (line.index <= last || line.index * chunkBytes >= named.diskBytes) throw wrong()
      named.chunks.push(line)
    },
  }
}

export type DiskCalls = {
  nameChunks(hostId: string, path: string, keys: string): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
  sealChunks(
    hostId: string,
    path: string,
    keys: string,
    wanted: readonly number[],
  ): Promise<AsyncIterable<Uint8Array>>
  /** Sends a line of JSON followed by frames. Returns the agent's response. */
  send(hostId: string, path: string, head: object, frames: AsyncIterable<Uint8Array>): Promise<unknown>
}

/** Makes the calls over the link that `ask` uses. */
export function createDiskCalls(ask: Ask): DiskCalls {
  return {
    nameChunks: async (hostId, path, keys) => {
      const { stream } = await ask(hostId, 'POST', `${path}/chunk-names`, { body: { keys } })
      const list = createChunkList()
      const lines = readLines(stream, z.union([namedChunk, namedDisk]))
      for await (const some of lines) for (const line of some) list.add(line)
      return list.named
    },
    sealChunks: async (hostId, path, keys, wanted) => {
      const { stream } = await ask(hostId, 'POST', `${path}/chunks`, { body: { keys, wanted } })
      return stream as AsyncIterable<Uint8Array>
    },
    send: async (hostId, path, head, frames) => {
      let failure: unknown
      async function* whole(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(`${JSON.stringify(head)}${headEnd}`)
        try {
          yield* frames
        } catch (error) {
          failure = error
          throw error
        }
      }
      const body = Readable.from(whole(), { objectMode: false })
      const { stream } = await ask(hostId, 'POST', path, { body }).catch(
        // An error of the source explains more than the aborted request that it causes.
        (error: unknown) => Promise.reject(failure ?? error),
      )
      const answer = await readAtMost(stream, shortBodyBytesMax)
      try {
        return JSON.parse(answer ?? '')
      } catch {
        throw new HostRefused('failed', 'the answer is not in the protocol')
      }
    },
  }
}

/** Follows the changes in a folder of a Dock, also when the connection breaks. */
import { bodyChunks, linesOf } from './body-chunks.ts'
import type { Client } from './client.ts'
import type { FileChange } from './generated/route-types.ts'
import { Patience } from './until-reached.ts'

export type FileWatchOptions = { recursive?: boolean | undefined; signal?: AbortSignal | undefined }

/** `watching` comes first. `overflow`: changes were lost, for example with the connection: list the folder again. */
export type WatchedChange = Exclude<FileChange, { type: 'alive' } | { type: 'ended' }> | { type: 'overflow' }

type Ended = { isGone: boolean }

const changeOf = (line: string): FileChange | null => {
  try {
    return JSON.parse(line) as FileChange
  } catch {
    // The line broke off with the connection.
    return null
  }
}

/** Yields the changes of one connection. Returns why it ended. */
async function* watchOnce(
  client: Client,
  params: { id: string },
  query: { path: string; recursive: boolean },
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchedChange, Ended, undefined> {
  const response = await client.open('watchDockFiles', { params, query, signal })
  for await (const line of linesOf(bodyChunks(response, signal), Number.POSITIVE_INFINITY)) {
    const change = changeOf(line)
    if (change?.type === 'ended') return { isGone: change.reason === 'gone' }
    if (change && change.type !== 'alive') yield change as WatchedChange
  }
  return { isGone: false }
}

/** Yields changes until the folder is gone. After a break, an `overflow` tells that some may be missing. */
export async function* watchFiles(
  client: Client,
  params: { id: string },
  path: string,
  { recursive = false, signal }: FileWatchOptions,
): AsyncGenerator<WatchedChange, void, undefined> {
  const patience = new Patience(signal)
  for (let hasBegun = false; ; ) {
    try {
      const changes = watchOnce(client, params, { path, recursive }, signal)
      for (let next = await changes.next(); ; next = await changes.next()) {
        patience.renew()
        if (next.done) {
          if (next.value.isGone) return
          break
        }
        // The first line of a later connection means: what happened in between is not told.
        const isFirst = next.value.type === 'watching'
        yield hasBegun && isFirst ? { type: 'overflow' } : next.value
        hasBegun = true
      }
    } catch (error) {
      await patience.afterFailure(error)
    }
  }
}

/**
 * The open live streams of this process. A NOTIFY makes the hub read the changes since its cursor once, for all streams
 * together. Reads follow one another, so each stream sees the cursors in order.
 */
import type { LiveChange } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { createEventStream, type EventStream } from './event-stream.ts'
import {
  type Batch,
  findValidSessions,
  isCursor,
  readChanges,
  readCursor,
  type SeenChange,
} from './live-store.ts'

export type LiveHolder = { userId: string; credentialId: string; instanceAdmin: boolean }

export type LiveHub = {
  /** Opens a stream that continues after `cursor`. Without a cursor, or with one that is too old, it begins now. */
  open(holder: LiveHolder, cursor: string | undefined): Promise<ReadableStream<Uint8Array>>
  /** Returns the number of streams that are open or being opened, of one person or of all. */
  count(userId?: string): number
  /** Reads new changes. Call it for each notification of the channel `live_changes`, and after reconnects. */
  wake(): void
  /** Closes the streams of sessions that no longer work. */
  closeEnded(): Promise<void>
  /** Tells all streams that they are alive, and which cursor they have reached. */
  keepAlive(): void
  closeAll(): void
}

type Reader = LiveHolder & { stream: EventStream }

const changesOf = (changes: readonly SeenChange[], userId: string): LiveChange[] =>
  changes.filter(({ userIds }) => userIds.includes(userId)).map(({ userIds: _, ...change }) => change)

export function createLiveHub({ db, clock, logger }: { db: Db; clock: Clock; logger: Logger }): LiveHub {
  const readers = new Set<Reader>()
  /** Undefined while nobody is connected: notifications are then ignored. */
  let cursor: string | undefined
  let queue: Promise<unknown> = Promise.resolve()
  let isAwake = false
  /** Streams that are being opened, and count as open. What changes meanwhile is read after them. */
  const opening = new Set<LiveHolder>()

  /** Runs reads one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const run = queue.then(work)
    queue = run.catch(() => undefined)
    return run
  }
  const peopleOf = (asked: Iterable<LiveHolder>) => {
    const all = [...asked]
    const idsOf = (holders: LiveHolder[]) => [...new Set(holders.map(({ userId }) => userId))]
    return { userIds: idsOf(all), adminIds: idsOf(all.filter(({ instanceAdmin }) => instanceAdmin)) }
  }
  const sendTo = (reader: Reader, batch: Batch): void => {
    if (batch.isIncomplete) {
      reader.stream.send('reset', batch.cursor, {})
      return
    }
    const changes = changesOf(batch.changes, reader.userId)
    if (changes.length > 0) reader.stream.send('changes', batch.cursor, changes)
  }
  const readNew = async (): Promise<void> => {
    isAwake = false
    const after = cursor
    if (after === undefined) return
    const batch = await readChanges(db, { after, ...peopleOf(readers) })
    // All readers left during the read, and notifications were ignored since. The next reader begins with a new cursor.
    if (cursor !== after) return
    cursor = batch.cursor
    for (const reader of readers) sendTo(reader, batch)
  }
  const rest = (): void => {
    if (readers.size + opening.size === 0) cursor = undefined
  }
  const leave = (reader: Reader): void => {
    readers.delete(reader)
    rest()
  }
  const openInTurn = async (holder: LiveHolder, after: string | undefined): Promise<EventStream> => {
    cursor ??= await readCursor(db)
    const missed =
      after !== undefined && isCursor(after)
        ? await readChanges(db, { after, until: cursor, ...peopleOf([holder]) })
        : undefined
    const reader: Reader = { ...holder, stream: createEventStream(() => leave(reader)) }
    opening.delete(holder)
    readers.add(reader)
    reader.stream.send(missed ? 'resumed' : 'ready', cursor, {})
    if (missed) sendTo(reader, missed)
    return reader.stream
  }

  return {
    open: async ({ ...holder }, after) => {
      opening.add(holder)
      try {
        return (await inTurn(() => openInTurn(holder, after))).body
      } finally {
        opening.delete(holder)
        rest()
      }
    },
    count: (userId) =>
      [...readers, ...opening].filter((holder) => userId === undefined || holder.userId === userId).length,
    wake: () => {
      if (isAwake || readers.size + opening.size === 0) return
      isAwake = true
      inTurn(readNew).catch((error: unknown) => {
        // Pages that reconnect continue from their own cursor, so nothing is lost.
        logger.warn({ err: error }, 'live changes could not be read; the pages connect again')
        for (const reader of readers) reader.stream.close()
      })
    },
    closeEnded: async () => {
      const asked = [...readers]
      if (asked.length === 0) return
      const valid = await findValidSessions(db, asked, clock.now())
      asked.forEach((reader, index) => {
        if (!valid.has(index)) reader.stream.close()
      })
    },
    keepAlive: () => {
      for (const reader of readers) if (cursor !== undefined) reader.stream.send('alive', cursor, {})
    },
    closeAll: () => {
      for (const reader of readers) reader.stream.close()
    },
  }
}

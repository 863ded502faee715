/** GET /v1/snapshots/:id/tree, …/files, …/download. Lists are streamed in batches. */
import { ServiceError, type SnapshotDownload, type SnapshotTree } from '@dock/contract'
import { bodyOf, mapAsync } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import { requireSecretsAccess } from '../docks/index.ts'
import {
  type ByteRange,
  HostRefused,
  HostUnreachable,
  parseByteRange,
  placeByteRange,
  writeByteRange,
} from '../hosts/index.ts'
import { NoCopy } from '../storage/index.ts'
import { limitSlowReader } from './limit-slow-reader.ts'
import type { HostReading } from './open-readings.ts'
import type { SnapshotContext } from './snapshot-context.ts'
import { findSnapshotRow, type SnapshotRow } from './snapshot-store.ts'

type Reader = Pick<
  SnapshotContext,
  'db' | 'gateway' | 'captureHost' | 'listFiles' | 'rateLimits' | 'readings' | 'listPace'
>

/**
 * Returns a completed Snapshot whose files the caller may read. Throws `snapshot_not_found` and
 * `environment_secrets_admin_only`.
 */
export async function requireReadable(
  context: Pick<SnapshotContext, 'db'>,
  caller: Visitor,
  id: string,
): Promise<SnapshotRow> {
  const row = caller.admit(await findSnapshotRow(context.db, caller.userId, id))
  if (row.status !== 'completed') throw new ServiceError('snapshot_not_found')
  requireSecretsAccess(row)
  return row
}

/** Returns a host that keeps the capture, after a restore from the copy if none does. */
export function hostOf(context: Reader, row: SnapshotRow): Promise<string> {
  return mapHostErrors(context.captureHost(row), 'service_unavailable')
}

/** Maps errors of hosts to errors for the caller. `invalid` is the error if the host refuses the request as invalid. */
export async function mapHostErrors<T>(
  work: Promise<T>,
  invalid: 'not_a_regular_file' | 'service_unavailable' | ServiceError,
): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof HostUnreachable || error instanceof NoCopy)
      throw new ServiceError('service_unavailable', { cause: error })
    if (!(error instanceof HostRefused)) throw error
    if (error.code === 'not_found') throw new ServiceError('snapshot_not_found')
    const code = error.code === 'invalid' ? invalid : 'service_unavailable'
    throw code instanceof ServiceError ? code : new ServiceError(code, { cause: error })
  }
}

type Listed<List extends { files: unknown[] }> = Omit<List, 'files'> & { files: AsyncIterable<List['files']> }

/** Runs `begin`, which counts reads. Returns its result and a function that ends all counts. An error ends them. */
export async function countReadsWhile<T>(
  begin: (count: (end: () => void) => void) => Promise<T>,
): Promise<{ begun: T; end: () => void }> {
  const ends: (() => void)[] = []
  const end = (): void => {
    for (const each of ends) each()
  }
  try {
    return { begun: await begin((each) => void ends.push(each)), end }
  } catch (error) {
    end()
    throw error
  }
}

/** Returns the approximate length in bytes of a batch as it is sent. JSON writes six characters for a control character. */
const listedBytes = (batch: readonly { path: string }[]): number =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is counted.
  batch.reduce((sum, { path }) => sum + path.length + 24 + 5 * (path.match(/[\0-\x1f]/g)?.length ?? 0), 0)

/**
 * Lists the files of a completed Snapshot with their sizes in bytes. Throws `snapshot_not_found`,
 * `environment_secrets_admin_only` and `rate_limited`.
 */
export async function readSnapshotTree(
  context: Reader,
  caller: Visitor,
  id: string,
): Promise<Listed<SnapshotTree>> {
  const { rateLimits, readings, listPace } = context
  await rateLimits.take('snapshotLists', caller.userId)
  const row = await requireReadable(context, caller, id)
  const party = { userId: caller.userId, organizationId: row.organizationId }
  let place: HostReading | undefined
  const { begun, end } = await countReadsWhile(async (count) => {
    count(readings.ofUser(caller.userId))
    // If no host keeps the capture, the list comes from the index of the copy, which uses no host.
    if (row.hostId !== null) {
      place = readings.ofHost(row.hostId, party)
      count(place.end)
    }
    return mapHostErrors(context.listFiles(row), 'service_unavailable')
  })
  const paced = mapAsync(begun, async (batch) => {
    await listPace(party, listedBytes(batch))
    return batch
  })
  const batches = limitSlowReader(ReadableStream.from(paced), end, { bytesOf: listedBytes, place })
  const files = mapAsync(batches, (batch) => batch.map(({ path, size }) => ({ path, size })))
  return { snapshotId: id, files }
}

type FileAnswer = {
  body: ReadableStream<Uint8Array>
  contentType: string
  contentLength: number
  range?: { size: number; part: { start: number; end: number } | null }
}

/** Parses a `range` header. Returns null if there is none, or if it is not a single byte range (RFC 9110). */
export function parseRangeHeader(header: string | undefined): ByteRange | null {
  const bytes = /^bytes=(.*)$/i.exec(header?.trim() ?? '')?.[1]
  return bytes === undefined ? null : parseByteRange(bytes)
}

/** Most bytes of a Snapshot's file in one response. Larger files are read in ranges. */
export const snapshotFileBytesMax = 2 ** 30

/** Streams a file, or a range of it, from the host. Throws `file_too_large` before the first byte. */
export async function readSnapshotFile(
  context: Reader,
  caller: Visitor,
  wanted: { id: string; path: string; range: string | undefined },
  bytesMax = snapshotFileBytesMax,
): Promise<FileAnswer> {
  const { rateLimits, readings } = context
  await rateLimits.take('snapshotFiles', caller.userId)
  const row = await requireReadable(context, caller, wanted.id)
  const range = parseRangeHeader(wanted.range)
  let place: HostReading | undefined
  const { begun, end } = await countReadsWhile(async (count) => {
    count(readings.ofUser(caller.userId))
    const hostId = await hostOf(context, row)
    place = readings.ofHost(hostId, { userId: caller.userId, organizationId: row.organizationId })
    count(place.end)
    return mapHostErrors(
      context.gateway.readCaptureFile(
        { hostId, captureId: wanted.id },
        {
          path: wanted.path,
          ...(range ? { range: writeByteRange(range) } : {}),
        },
      ),
      'not_a_regular_file',
    )
  })
  const { size } = begun
  const body = limitSlowReader(bodyOf(begun.body), end, { bytesOf: (chunk) => chunk.length, place })
  const part = range ? placeByteRange(range, size) : { start: 0, end: size }
  const contentLength = part ? part.end - part.start : 0
  if (contentLength > bytesMax) {
    await body.cancel()
    const mebibytes = Math.floor(bytesMax / 2 ** 20)
    throw new ServiceError('file_too_large', {
      message: `The file is larger than ${mebibytes} MiB. Read it in parts with the header range, or resume the Dock to read it.`,
    })
  }
  const answer = { body, contentType: 'application/octet-stream', contentLength }
  return range ? { ...answer, range: { size, part } } : answer
}

/** Lists the files of a completed Snapshot, each with a relative link. */
export async function readSnapshotDownload(
  context: Reader,
  caller: Visitor,
  id: string,
): Promise<Listed<SnapshotDownload>> {
  const tree = await readSnapshotTree(context, caller, id)
  const url = (path: string): string => `/v1/snapshots/${id}/files?${new URLSearchParams({ path })}`
  const files = mapAsync(tree.files, (batch) => batch.map((file) => ({ ...file, url: url(file.path) })))
  return { snapshotId: id, files }
}

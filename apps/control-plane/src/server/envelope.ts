/** The two shapes of a JSON response, and the only place where errors become HTTP responses. */
import { type ErrorCode, errorCodes, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** Returns the response `{ok: true, data}`. */
export function success(data: unknown, status: number, noStore = false): Response {
  return new Response(JSON.stringify({ ok: true, data }), {
    status,
    headers: noStore ? { ...jsonHeaders, 'cache-control': 'no-store' } : jsonHeaders,
  })
}

/** The fields of a response. The streamed field is an `AsyncIterable` of batches of its list. */
export type StreamedData = Record<string, unknown>

/**
 * Streams `before`, the items of all batches, and `after`. If the source fails midway, the body is cut short: the
 * client sees invalid JSON on an aborted response.
 */
const streamed = (
  before: string,
  batches: AsyncIterable<unknown[]>,
  after: string,
  status: number,
): Response => {
  const source = batches[Symbol.asyncIterator]()
  async function* parts(): AsyncGenerator<Buffer> {
    yield Buffer.from(before)
    let isFirst = true
    for await (const batch of { [Symbol.asyncIterator]: () => source }) {
      if (batch.length === 0) continue
      const items = JSON.stringify(batch).slice(1, -1)
      yield Buffer.from(isFirst ? items : `,${items}`)
      isFirst = false
    }
    yield Buffer.from(after)
  }
  const text = parts()
  const whole: AsyncIterator<Buffer> = {
    next: () => text.next(),
    // Returning a generator that never started does not run its body, so the source must be closed explicitly.
    return: async () => {
      await text.return(undefined)
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
  const body = ReadableStream.from({
    [Symbol.asyncIterator]: () => whole,
  }) as unknown as ConstructorParameters<typeof Response>[0]
  return new Response(body, { status, headers: jsonHeaders })
}

/** Like {@link success}, but streams the list in `field` batch by batch. */
export function streamedSuccess(data: StreamedData, field: string, status: number): Response {
  const { [field]: batches, ...others } = data
  const before = JSON.stringify({ ok: true, data: { ...others, [field]: [] } }).slice(0, -']}}'.length)
  return streamed(before, batches as AsyncIterable<unknown[]>, ']}}', status)
}

async function* followed(
  first: unknown[],
  second: unknown[],
  rest: AsyncIterator<unknown[]>,
): AsyncGenerator<unknown[]> {
  yield first
  yield second
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Returns `{ok: true, data: [...]}`. Streams the list if it has more than one batch. */
export async function streamedListSuccess(
  batches: AsyncIterable<unknown[]>,
  status: number,
): Promise<Response> {
  const source = batches[Symbol.asyncIterator]()
  const first = await source.next()
  if (first.done) return success([], status)
  const second = await source.next()
  if (second.done) return success(first.value, status)
  return streamed('{"ok":true,"data":[', followed(first.value, second.value, source), ']}', status)
}

/** Returns the response `{ok: false, code, message}`. */
export function failure(error: ServiceError): Response {
  return new Response(JSON.stringify({ ok: false, code: error.code, message: error.message }), {
    status: error.status,
    headers: {
      ...jsonHeaders,
      'cache-control': 'no-store',
      // Limits on concurrency have no known end, unlike rate limit windows: suggest a retry after one second.
      ...(error.status === 429 || error.retryAfterSeconds !== undefined
        ? { 'retry-after': String(error.retryAfterSeconds ?? 1) }
        : {}),
    },
  })
}

// Error codes of Node and PostgreSQL: the database is unreachable, starting, shutting down or out of connections, or it
// canceled a statement after the statement timeout.
const databaseUnavailableCodes = new Set([
  ...['ECONNREFUSED', 'ENOENT', 'ECONNRESET'],
  ...['57P01', '57P02', '57P03', '53300', '57014'],
])

const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && typeof error.code === 'string' && databaseUnavailableCodes.has(error.code)) ||
    error.message.startsWith('Connection terminated') ||
    error.message.startsWith('Client has encountered a connection error') ||
    error.message.startsWith('timeout exceeded when trying to connect'))

/** Converts a thrown value to the error that the caller sees. Logs the details that the caller must not see. */
export function toServiceError(error: unknown, log: Logger): ServiceError {
  if (error instanceof ServiceError) {
    if (error.status >= 500)
      log.warn({ code: error.code, detail: error.detail, err: error.cause }, 'request failed')
    return error
  }
  const code: ErrorCode = isDatabaseUnavailable(error) ? 'service_unavailable' : 'internal_error'
  log.error({ err: error, code }, errorCodes[code].message)
  return new ServiceError(code, { cause: error })
}

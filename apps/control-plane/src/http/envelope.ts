/** The two shapes of a JSON answer, and the one place where errors become HTTP. */
import { type ErrorCode, errorCodes, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** `{ok: true, data}`. */
export function success(data: unknown, status: number, noStore = false): Response {
  return new Response(JSON.stringify({ ok: true, data }), {
    status,
    headers: noStore ? { ...jsonHeaders, 'cache-control': 'no-store' } : jsonHeaders,
  })
}

/** Of the fields, the one that is streamed holds the batches of its list. */
export type StreamedData = Record<string, unknown>

/** `before`, the items of all batches, `after`. If the source fails midway, the body is cut short: the client sees invalid JSON. */
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
    // A generator that was never asked for anything would leave the list open.
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

/** The same as {@link success}, with the list under `field` written as its batches come. */
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

/** `{ok: true, data: [...]}`: at once where there is one batch at most, otherwise as the batches come. */
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

/** `{ok: false, code, message}` and nothing else. */
export function failure(error: ServiceError): Response {
  return new Response(JSON.stringify({ ok: false, code: error.code, message: error.message }), {
    status: error.status,
    headers: {
      ...jsonHeaders,
      'cache-control': 'no-store',
      // A slot, unlike a window, is free again whenever its user is done.
      ...(error.status === 429 ? { 'retry-after': String(error.retryAfterSeconds ?? 1) } : {}),
    },
  })
}

// Of Node and PostgreSQL: the database cannot be reached, is starting, ending, out of connections, or
// ended a statement that took too long.
const databaseAway = new Set([
  ...['ECONNREFUSED', 'ENOENT', 'ECONNRESET'],
  ...['57P01', '57P02', '57P03', '53300', '57014'],
])

const isDatabaseAway = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && typeof error.code === 'string' && databaseAway.has(error.code)) ||
    error.message.startsWith('Connection terminated') ||
    error.message.startsWith('timeout exceeded when trying to connect'))

/** What a caller may know of anything that was thrown; the rest goes to the log. */
export function toServiceError(error: unknown, log: Logger): ServiceError {
  if (error instanceof ServiceError) {
    if (error.status >= 500) log.warn({ code: error.code, detail: error.detail, err: error.cause }, 'refused')
    return error
  }
  const code: ErrorCode = isDatabaseAway(error) ? 'service_unavailable' : 'internal_error'
  log.error({ err: error, code }, errorCodes[code].message)
  return new ServiceError(code, { cause: error })
}

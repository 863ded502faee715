/** The two shapes of a JSON answer, and the one place where errors become HTTP. */
import { type ErrorCode, errorCodes, ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

/** `{ok: true, data}`. */
export const success = (data: unknown, status: number, noStore = false): Response =>
  new Response(JSON.stringify({ ok: true, data }), {
    status,
    headers: noStore ? { ...jsonHeaders, 'cache-control': 'no-store' } : jsonHeaders,
  })

/** Of the fields, the one that is streamed holds the batches of its list. */
export type StreamedData = Record<string, unknown>

/** The same, with the list under `field` written as its batches come. One that breaks off is no JSON, and no end of an answer. */
export const streamedSuccess = (data: StreamedData, field: string, status: number): Response => {
  const { [field]: batches, ...others } = data
  async function* parts(): AsyncGenerator<Buffer> {
    const before = JSON.stringify({ ok: true, data: { ...others, [field]: [] } }).slice(0, -']}}'.length)
    yield Buffer.from(before)
    let isFirst = true
    for await (const batch of batches as AsyncIterable<unknown[]>) {
      if (batch.length === 0) continue
      const items = JSON.stringify(batch).slice(1, -1)
      yield Buffer.from(isFirst ? items : `,${items}`)
      isFirst = false
    }
    yield Buffer.from(']}}')
  }
  const body = ReadableStream.from(parts()) as unknown as ConstructorParameters<typeof Response>[0]
  return new Response(body, { status, headers: jsonHeaders })
}

/** `{ok: false, code, message}` and nothing else. */
export const failure = (error: ServiceError): Response =>
  new Response(JSON.stringify({ ok: false, code: error.code, message: error.message }), {
    status: error.status,
    headers: {
      ...jsonHeaders,
      'cache-control': 'no-store',
      // A slot, unlike a window, is free again whenever its user is done.
      ...(error.status === 429 ? { 'retry-after': String(error.retryAfterSeconds ?? 1) } : {}),
    },
  })

// Of Node and PostgreSQL: the database cannot be reached, is starting, ending, or out of connections.
const databaseAway = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET', '57P01', '57P02', '57P03', '53300'])

const isDatabaseAway = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && typeof error.code === 'string' && databaseAway.has(error.code)) ||
    error.message.startsWith('Connection terminated') ||
    error.message.startsWith('timeout exceeded when trying to connect'))

/** What a caller may know of anything that was thrown; the rest goes to the log. */
export const toServiceError = (error: unknown, log: Logger): ServiceError => {
  if (error instanceof ServiceError) {
    if (error.status >= 500) log.warn({ code: error.code, detail: error.detail, err: error.cause }, 'refused')
    return error
  }
  const code: ErrorCode = isDatabaseAway(error) ? 'service_unavailable' : 'internal_error'
  log.error({ err: error, code }, errorCodes[code].message)
  return new ServiceError(code, { cause: error })
}

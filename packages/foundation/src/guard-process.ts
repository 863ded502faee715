/**
 * Errors that nothing caught. Without this, Node ends the process for any of them, and one caller's broken stream is
 * everybody's. An error of a stream goes on the log, and the process goes on. After any other error its memory may be
 * wrong, so it leaves in order and starts again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

/** Returns fields that name a piece of work in the log, such as a request. They must not be secret. */
type Describe = () => Readonly<Record<string, unknown>>

const current = new AsyncLocalStorage<Describe>()

/** Runs `work`. The log names an error that it leaves uncaught, now or later, with what `describe` returns. */
export function runDescribed<T>(describe: Describe, work: () => T): T {
  return current.run(describe, work)
}

/** Returns fields that name the present piece of work. */
export function describeWork(): object {
  try {
    return current.getStore()?.() ?? {}
  } catch {
    return {}
  }
}

/**
 * Codes of errors that concern one stream, socket, message or child process: of Node's streams, HTTP, TLS, zlib and
 * system calls.
 */
const streamCodes =
  /^(ERR_STREAM_|ERR_HTTP_|ERR_HTTP2_|ERR_SOCKET_|ERR_SSL_|ERR_TLS_|ERR_INVALID_STATE$|ERR_INVALID_CHAR$|ERR_INVALID_HTTP_TOKEN$|HPE_|UND_ERR_|WS_ERR_|Z_|ABORT_ERR$|ECONN|EPIPE$|ENOTCONN$|ESHUTDOWN$|ETIMEDOUT$|EHOSTUNREACH$|ENETUNREACH$|EMFILE$|ENFILE$|EAGAIN$)/

type ErrorClass = abstract new (...args: never[]) => Error

/**
 * True if the error is one stream's own, or of one of `classes`, so that everything else in the process is as it should
 * be.
 */
export function isStreamError(error: unknown, classes: readonly ErrorClass[] = []): boolean {
  if (!(error instanceof Error)) return false
  if (classes.some((each) => error instanceof each)) return true
  const { code } = error as { code?: unknown }
  return error.name === 'AbortError' || (typeof code === 'string' && streamCodes.test(code))
}

/** How long a process may take to leave in order. */
const leaveMsMax = 10_000

type GuardOptions = {
  logger: Logger
  /** Errors that the program throws by design, such as those of a link that broke. Each concerns one call or stream. */
  streamErrors?: readonly ErrorClass[]
  /** Counts an uncaught error. */
  count?: (kind: 'stream' | 'other') => void
  /** Begins to end the process. It is ended after ten seconds, whatever comes of this. */
  leave: () => void
}

/** Takes over the uncaught errors and unhandled rejections of this process. */
export function guardProcess({ logger, streamErrors, count, leave }: GuardOptions): void {
  let isLeaving = false
  const handle = (error: unknown): void => {
    const isOfStream = isStreamError(error, streamErrors)
    count?.(isOfStream ? 'stream' : 'other')
    const fields = { err: error, ...describeWork() }
    if (isOfStream) {
      logger.error(fields, 'an uncaught error of a stream; only its own work has ended')
      return
    }
    logger.fatal(fields, 'an uncaught error; the process leaves and starts again')
    if (isLeaving) return
    isLeaving = true
    setTimeout(() => process.exit(1), leaveMsMax).unref()
    try {
      leave()
    } catch {
      process.exit(1)
    }
  }
  process.on('uncaughtException', handle)
  process.on('unhandledRejection', handle)
}

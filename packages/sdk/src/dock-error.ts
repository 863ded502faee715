/** The errors of the SDK. `code` tells them apart; a class stands for each kind of failure. */
import type { ErrorCode } from './generated/route-types.ts'

/** Any failure that the SDK reports. */
export class DockError extends Error {
  /** A code of the contract, or one of the SDK's own: `bad_response`, `connection_failed`, `output_lost`, … */
  readonly code: string
  // Written out, because a minifier renames classes.
  override readonly name: string = 'DockError'
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The service could not be reached, or the connection broke. `cause` is the error of `fetch`. */
export class ConnectionError extends DockError {
  override readonly name: string = 'ConnectionError'
  constructor(message: string, cause: unknown) {
    super('connection_failed', message, { cause })
  }
}

/** Output of a process is no longer kept: it was written faster than it was read. */
export class OutputLostError extends DockError {
  override readonly name: string = 'OutputLostError'
  constructor(message: string) {
    super('output_lost', message)
  }
}

/** A file or folder of this computer cannot be written or read as asked. */
export class LocalFileError extends DockError {
  override readonly name: string = 'LocalFileError'
  constructor(message: string, options?: ErrorOptions) {
    super('local_file', message, options)
  }
}

/** An unsuccessful response: the service's stable code, the HTTP status, and a message for people. */
export class DockApiError extends DockError {
  override readonly name: string = 'DockApiError'
  /** A code of the contract, or `bad_response` if the response did not come from the service. */
  declare readonly code: ErrorCode | 'bad_response'
  readonly status: number
  /** The seconds of the header `Retry-After`, or null. */
  readonly retryAfterSeconds: number | null
  /** The header `x-request-id`, for a report to the operators, or null. */
  readonly requestId: string | null
  constructor(
    code: string,
    status: number,
    message: string,
    retryAfterSeconds: number | null = null,
    requestId: string | null = null,
  ) {
    super(code, message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    this.requestId = requestId
  }
}

/** 400: the request is not valid. */
export class BadRequestError extends DockApiError {
  override readonly name: string = 'BadRequestError'
}
/** 401: credentials are missing or no longer valid. */
export class UnauthorizedError extends DockApiError {
  override readonly name: string = 'UnauthorizedError'
}
/** 402 and 403: the caller may not do this. */
export class ForbiddenError extends DockApiError {
  override readonly name: string = 'ForbiddenError'
}
/** 404: the object does not exist, or the caller may not see it. */
export class NotFoundError extends DockApiError {
  override readonly name: string = 'NotFoundError'
}
/** 409: the current state does not allow this. */
export class ConflictError extends DockApiError {
  override readonly name: string = 'ConflictError'
}
/** 429: too many requests. */
export class RateLimitError extends DockApiError {
  override readonly name: string = 'RateLimitError'
}
/** 503 with `capacity_exhausted`, `no_host_capacity` or `base_image_unavailable`: no host can take the Dock now. */
export class CapacityError extends DockApiError {
  override readonly name: string = 'CapacityError'
}
/** Every other status from 500 on. */
export class ServiceError extends DockApiError {
  override readonly name: string = 'ServiceError'
}

const classes: Readonly<Record<number, typeof DockApiError>> = {
  400: BadRequestError,
  401: UnauthorizedError,
  402: ForbiddenError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
}
const capacityCodes = ['capacity_exhausted', 'no_host_capacity', 'base_image_unavailable']

/** Creates the error of an unsuccessful response. */
export function apiError(
  status: number,
  code: string,
  message: string,
  { retryAfter, requestId }: { retryAfter: number | null; requestId: string | null },
) {
  const Class = capacityCodes.includes(code)
    ? CapacityError
    : (classes[status] ?? (status >= 500 ? ServiceError : DockApiError))
  return new Class(code, status, message, retryAfter, requestId)
}

/** Returns true if `error` is a failure with one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): error is DockError {
  return error instanceof DockError && codes.includes(error.code)
}

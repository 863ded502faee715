/** Reads request bodies: size-limited JSON in UTF-8. */
import { ServiceError } from '@dock/contract'
import { createJsonCounter } from '@dock/foundation'

/** Body limit of authenticated callers. Fits secret files of 1 MiB in total, escaped as JSON. */
export const callerBodyBytesMax = 4 * 1024 * 1024
/** Body limit of anonymous callers. */
export const anonymousBodyBytesMax = 64 * 1024
/** Body limit of events of the payment company. A subscription with many items is larger than most bodies. */
export const billingEventBytesMax = 256 * 1024

/** Body limit of webhooks of GitHub. An installation of thousands of repositories lists them all. */
export const githubEventBytesMax = 8 * 1024 * 1024
/** Nearly all webhooks of GitHub are smaller. */
export const smallGithubEventBytesMax = 256 * 1024

const tooLarge = (bytesMax: number): ServiceError =>
  new ServiceError('validation_error', { message: `Body is larger than ${bytesMax} bytes.` })

/** The caller left in the middle of the body. Nobody reads this response. */
export function brokenBody(cause: unknown): ServiceError {
  return new ServiceError('validation_error', { message: 'The body broke off.', cause })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws if `Content-Length` is over the limit, before any byte is read. */
const checkAnnouncedLength = (request: Request, bytesMax: number): void => {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
}

/**
 * Returns the bytes of the body, for senders that sign them. Throws `validation_error` for more than `bytesMax`.
 * `onChunk` is called with each piece and the number of bytes so far, and may throw.
 */
export async function readBytes(
  request: Request,
  bytesMax: number,
  onChunk?: (chunk: Uint8Array, total: number) => void,
): Promise<Uint8Array> {
  checkAnnouncedLength(request, bytesMax)
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  try {
    for await (const chunk of request.body) {
      total += chunk.byteLength
      if (total > bytesMax) throw tooLarge(bytesMax)
      onChunk?.(chunk, total)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw brokenBody(error)
  }
  return Buffer.concat(chunks)
}

/** True if the text contains NUL, which PostgreSQL cannot store. */
export function containsNul(text: string): boolean {
  return text.includes('\0')
}

const depthMax = 32
/** Far more than any route needs. Text within strings does not count. */
const valuesMax = 100_000

const findFaultOfText = (text: string, ofBytes: boolean): string | undefined => {
  if (containsNul(text)) return 'Body contains the character NUL. Remove it.'
  // No UTF-8 stands for one, and PostgreSQL refuses it in JSON.
  return ofBytes || text.isWellFormed() ? undefined : 'Body contains half of a surrogate pair. Remove it.'
}

/** Returns what is wrong with a parsed body on any route, or undefined. Recurses at most `depthMax` levels. */
const findFault = (value: unknown, ofBytes: boolean, depth = 0): string | undefined => {
  if (typeof value === 'string') return findFaultOfText(value, ofBytes)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === depthMax) return `Body is nested more than ${depthMax} levels deep.`
  for (const [key, each] of Object.entries(value)) {
    // Validation would drop this field silently.
    if (key === '__proto__') return 'Body contains a field named __proto__. Remove it.'
    const fault = findFaultOfText(key, ofBytes) ?? findFault(each, ofBytes, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Returns the body as it was sent, for senders that sign it. Throws `validation_error`. */
export async function readTextBody(request: Request, bytesMax: number): Promise<string> {
  const bytes = await readBytes(request, bytesMax)
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw new ServiceError('validation_error', { message: 'Body is not UTF-8.', cause: error })
  }
}

/**
 * Returns the parsed body, or `{}` if it is empty. Throws `validation_error`. With `ofBytes`, texts may contain lone
 * surrogates, which stand for bytes that are not UTF-8.
 */
export async function readJsonBody(request: Request, bytesMax: number, ofBytes = false): Promise<unknown> {
  const count = createJsonCounter()
  const bytes = await readBytes(request, bytesMax, (chunk) => {
    if (count(chunk) > valuesMax)
      throw new ServiceError('validation_error', {
        message: `Body has more than ${valuesMax} values. Split it into several requests.`,
      })
  })
  if (bytes.byteLength === 0) return {}
  let body: unknown
  try {
    body = JSON.parse(decoder.decode(bytes))
  } catch (error) {
    throw new ServiceError('validation_error', { message: 'Body is not valid JSON.', cause: error })
  }
  const fault = findFault(body, ofBytes)
  if (fault !== undefined) throw new ServiceError('validation_error', { message: fault })
  return body
}

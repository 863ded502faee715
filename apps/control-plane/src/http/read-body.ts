/** Request bodies: bounded, UTF-8, JSON. */
import { ServiceError } from '@dock/contract'

/** Bytes that somebody who is signed in may send: secret files of 1 MiB in all, and what JSON makes of them. */
export const callerBodyBytesMax = 4 * 1024 * 1024
/** Bytes that anybody may send. */
export const strangerBodyBytesMax = 64 * 1024

const tooLarge = (bytesMax: number): ServiceError =>
  new ServiceError('validation_error', { message: `Body is larger than ${bytesMax} bytes.` })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws when the announced length is over the limit, before a byte is read. */
const checkAnnouncedLength = (request: Request, bytesMax: number): void => {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
}

const readBounded = async (request: Request, bytesMax: number): Promise<Uint8Array> => {
  checkAnnouncedLength(request, bytesMax)
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of request.body) {
    total += chunk.byteLength
    if (total > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** PostgreSQL cannot store the character, and nothing that callers send needs it. */
export function holdsNul(text: string): boolean {
  return text.includes('\0')
}

const depthMax = 32

/** What is wrong with a parsed body whatever its route; undefined when nothing is. Goes no deeper than it allows. */
const faultOf = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return holdsNul(value) ? 'Body holds the character NUL.' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === depthMax) return `Body is nested more than ${depthMax} levels deep.`
  for (const [key, each] of Object.entries(value)) {
    // Validation would lose it without a word.
    if (key === '__proto__') return 'Body holds a field named __proto__.'
    const fault = faultOf(key) ?? faultOf(each, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** The parsed body; an empty one reads as `{}`. Throws `validation_error`. */
export async function readJsonBody(request: Request, bytesMax: number): Promise<unknown> {
  const bytes = await readBounded(request, bytesMax)
  if (bytes.byteLength === 0) return {}
  let body: unknown
  try {
    body = JSON.parse(decoder.decode(bytes))
  } catch (error) {
    throw new ServiceError('validation_error', { message: 'Body is not valid JSON.', cause: error })
  }
  const fault = faultOf(body)
  if (fault !== undefined) throw new ServiceError('validation_error', { message: fault })
  return body
}

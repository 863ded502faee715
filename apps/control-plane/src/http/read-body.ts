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
export const holdsNul = (value: unknown): boolean => {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, each]) => key.includes('\0') || holdsNul(each))
}

/** The parsed body; an empty one reads as `{}`. Throws `validation_error`. */
export const readJsonBody = async (request: Request, bytesMax: number): Promise<unknown> => {
  const bytes = await readBounded(request, bytesMax)
  if (bytes.byteLength === 0) return {}
  let body: unknown
  try {
    body = JSON.parse(decoder.decode(bytes))
  } catch (error) {
    throw new ServiceError('validation_error', { message: 'Body is not valid JSON.', cause: error })
  }
  if (holdsNul(body)) {
    throw new ServiceError('validation_error', { message: 'Body holds the character NUL.' })
  }
  return body
}

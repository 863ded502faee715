/** Request bodies: bounded, UTF-8, JSON. */
import { ServiceError } from '@dock/contract'

/** Bytes; a longer body is refused. */
export const bodyBytesMax = 2 * 1024 * 1024

const tooLarge = (): ServiceError =>
  new ServiceError('validation_error', { message: `Body is larger than ${bodyBytesMax} bytes.` })

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws when the announced length is over the limit, before a byte is read. */
const checkAnnouncedLength = (request: Request): void => {
  if (Number(request.headers.get('content-length') ?? 0) > bodyBytesMax) throw tooLarge()
}

const readBounded = async (request: Request): Promise<Uint8Array> => {
  checkAnnouncedLength(request)
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of request.body) {
    total += chunk.byteLength
    if (total > bodyBytesMax) throw tooLarge()
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
export const readJsonBody = async (request: Request): Promise<unknown> => {
  const bytes = await readBounded(request)
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

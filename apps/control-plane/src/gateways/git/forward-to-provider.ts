/**
 * Forwards a git request to the provider with a credential, and streams the response back. Only headers of git's protocol
 * are forwarded. Redirects are never followed, so that the credential reaches no other server.
 */
import { type IncomingMessage, request as requestPlainly, type ServerResponse } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { GitCredential } from '../../modules/connectors/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** The request is aborted if neither side sends anything for this long. */
const silenceMs = 120_000
const headerLengthMax = 1024
const reasonBytesMax = 1024
const passedRequestHeaders = [
  'accept',
  'content-type',
  'content-encoding',
  'content-length',
  'git-protocol',
  'user-agent',
] as const
const passedResponseHeaders = ['content-type', 'cache-control', 'expires', 'pragma'] as const

const outgoingHeaders = (
  { headers }: IncomingMessage,
  credential: GitCredential | null,
): Record<string, string> => {
  const passed: Record<string, string> = {}
  for (const name of passedRequestHeaders) {
    const value = headers[name]
    if (typeof value === 'string' && value.length <= headerLengthMax) passed[name] = value
  }
  if (credential) {
    const { username, password } = credential
    passed.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  }
  return passed
}

/** Returns the reason that the provider gives as plain text, without control characters. Returns '' if there is none. */
const reasonOf = async (answer: IncomingMessage): Promise<string> => {
  if (!answer.headers['content-type']?.startsWith('text/plain')) return ''
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    text += chunk
    if (text.length > reasonBytesMax) break
  }
  return text
    .slice(0, reasonBytesMax)
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
}

const howToLink =
  'An admin must link the provider in their account settings and add the repository to the Environment again.'

const explain = async (
  answer: IncomingMessage,
  name: string,
  hasCredential: boolean,
): Promise<DoorRefusal> => {
  const status = answer.statusCode ?? 0
  if (status >= 300 && status < 400)
    return new DoorRefusal(404, `${name} was renamed at its provider. Select it again with its new name.`)
  const reason = await reasonOf(answer)
  const because = reason ? ` Its reason: ${reason}` : ''
  if (status === 401 || status === 403 || status === 404) {
    const refused = `The provider denies this Dock access to ${name}`
    const cause = status === 401 ? `${name} requires a sign-in` : `${refused} without a sign-in`
    const message = hasCredential
      ? `${refused}.${because}`
      : `${cause}, and no linked account gives this Dock access.${because} ${howToLink}`
    return new DoorRefusal(403, message, { isOfCredential: status === 401 })
  }
  return new DoorRefusal(502, `The provider responded with ${status} for ${name}.${because}`)
}

/**
 * Forwards the request, and the provider's response. Throws {@link DoorRefusal} if the provider is unreachable or does
 * not respond with 200. Its `cause` is for the log.
 */
export async function forwardToProvider(
  request: IncomingMessage,
  response: ServerResponse,
  { target, name, credential }: { target: URL; name: string; credential: GitCredential | null },
): Promise<void> {
  const headers = outgoingHeaders(request, credential)
  const send = target.protocol === 'https:' ? requestSecurely : requestPlainly
  const outgoing = send(target, {
    method: request.method ?? 'GET',
    headers,
    timeout: silenceMs,
    agent: false,
  })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  outgoing.once('response', resolve).on('error', reject)
  outgoing.once('timeout', () => outgoing.destroy(new Error('no data for too long')))
  // Abort the request to the provider when the response to git ends for any reason.
  response.once('close', () => outgoing.destroy(new Error('git disconnected')))
  request.pipe(outgoing)
  const answer = await promise.catch((error: unknown) => {
    throw new DoorRefusal(502, 'The provider could not be reached. Try again.', { cause: error })
  })
  if (answer.statusCode !== 200) {
    request.unpipe(outgoing)
    const refusal = await explain(answer, name, credential !== null)
    outgoing.destroy()
    throw refusal
  }
  const passed: Record<string, string> = { connection: 'close' }
  for (const each of passedResponseHeaders) {
    const value = answer.headers[each]
    if (typeof value === 'string') passed[each] = value
  }
  response.writeHead(200, passed)
  await pipeline(answer, response)
}

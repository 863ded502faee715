/**
 * Passes a request of git on to the provider with a credential, and its answer back, as streams. Nothing but the headers
 * of git's protocol goes either way, and a redirect is never followed: the credential is for this server alone.
 */
import { type IncomingMessage, request as requestPlainly, type ServerResponse } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { pipeline } from 'node:stream/promises'
import type { GitCredential } from '../../modules/connectors/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** Nothing moves for so long, on either side: the request is cut. */
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

/** What the provider says in plain text of why not, without anything that a terminal would obey. */
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

const howToLend =
  'An admin links the provider in the account’s settings and adds the repository to the Environment again.'

const explain = async (
  answer: IncomingMessage,
  name: string,
  hasCredential: boolean,
): Promise<DoorRefusal> => {
  const status = answer.statusCode ?? 0
  if (status >= 300 && status < 400)
    return new DoorRefusal(404, `${name} has moved at its provider. Select it again by its new name.`)
  const reason = await reasonOf(answer)
  const because = reason ? ` It says: ${reason}` : ''
  if (status === 401 || status === 403 || status === 404) {
    const refused = `The provider does not let this Dock into ${name}`
    const unlent = status === 401 ? `${name} needs a sign-in` : `${refused} without a sign-in`
    const told = hasCredential
      ? `${refused}.${because}`
      : `${unlent}, and nobody who may lends this Dock theirs.${because} ${howToLend}`
    return new DoorRefusal(403, told, { isOfCredential: status === 401 })
  }
  return new DoorRefusal(502, `The provider answered ${status} for ${name}.${because}`)
}

/**
 * Passes the provider's response on to git. Throws {@link DoorRefusal} if the provider gave none that git can use; its
 * `cause` tells the log why.
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
  outgoing.once('timeout', () => outgoing.destroy(new Error('nothing moved for too long')))
  // Whatever ends the answer to git ends the request to the provider.
  response.once('close', () => outgoing.destroy(new Error('git went away')))
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

/**
 * Posts to a URL that a tenant chose, so that it reaches the public internet and nothing else. The host is resolved
 * once, all its addresses are checked, and the connection goes to one of them.
 */
import { ConnectFailed, connectToFirst, secureConnection, TlsFailed, WrongPeer } from './connect-checked.ts'
import { DeadlineExceeded, runWithDeadline } from './deadline.ts'
import { exchangePost, MalformedAnswer } from './exchange-post.ts'
import type { OwnHosts } from './own-hosts.ts'
import { checkPublicUrl, type PublicUrl } from './public-url.ts'
import { type AddressResolver, resolvePublic } from './resolve-public.ts'
import { readRetryAfter } from './retry-after.ts'

/** Why there is no response. These codes are stored with attempts, so they must not change. */
export type PostError =
  | 'address_not_public'
  | 'connect_failed'
  | 'dns_failed'
  | 'malformed_answer'
  | 'timed_out'
  | 'tls_failed'

export type PostOutcome =
  /** `answer` is the start of the body, read as UTF-8. */
  | { status: number; retryAfterSeconds: number | null; answer: string; error: null }
  /** The reason is a sentence for the owner of the receiver. */
  | { status: null; error: PostError; reason: string }

export type PublicPost = {
  /** Checked again, because the rules may have changed since it was stored. */
  url: string
  /** Host, content-length and connection are set here. */
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  /** Timeout for everything from resolving the name to the end of the response. */
  deadlineMs: number
  /** If it aborts, the call rejects with its reason. */
  signal?: AbortSignal | undefined
  resolver?: AddressResolver | undefined
  allowLoopback?: boolean
  /** What the operator allows besides the public internet. */
  own?: OwnHosts | undefined
}

type Failure = Extract<PostOutcome, { status: null }>

const fail = (error: PostError, reason: string): Failure => ({ status: null, error, reason })

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

const send = async (target: PublicUrl, post: PublicPost, signal: AbortSignal): Promise<PostOutcome> => {
  const { url, host } = target
  const { deadlineMs, resolver, own } = post
  const resolution = await resolvePublic(target, { deadlineMs, signal, resolver, own })
  if (resolution.error !== null) return fail(resolution.error, resolution.reason)
  const connection = await connectToFirst(resolution.addresses, portOf(url), deadlineMs, signal)
  const socket = url.protocol === 'https:' ? await secureConnection(connection, host, signal) : connection
  const { status, retryAfter, text } = await exchangePost(socket, {
    url,
    headers: post.headers,
    body: post.body,
  })
  return { status, retryAfterSeconds: readRetryAfter(retryAfter, new Date()), answer: text, error: null }
}

const explain = (error: unknown): Failure | undefined => {
  if (error instanceof DeadlineExceeded) return fail('timed_out', 'The receiver did not answer in time.')
  if (error instanceof ConnectFailed) return fail('connect_failed', 'The receiver accepts no connection.')
  if (error instanceof WrongPeer)
    return fail('address_not_public', 'The connection led to an address that was not checked.')
  if (error instanceof TlsFailed)
    return fail('tls_failed', 'No secure connection was made. Is the certificate valid for this host?')
  if (error instanceof MalformedAnswer) return fail('malformed_answer', error.message)
  return undefined
}

/**
 * Posts once and follows no redirect. Resolves with the status of the final response, or with the reason why there is
 * none, at the latest after `deadlineMs`.
 */
export async function postToPublicUrl(post: PublicPost): Promise<PostOutcome> {
  const target = checkPublicUrl(post.url, {
    allowLoopback: post.allowLoopback ?? false,
    own: post.own,
  })
  if ('problem' in target) return fail('address_not_public', target.problem)
  try {
    return await runWithDeadline(post.deadlineMs, post.signal, (signal) => send(target, post, signal))
  } catch (error) {
    const failure = post.signal?.aborted ? undefined : explain(error)
    if (failure === undefined) throw error
    return failure
  }
}

/**
 * Enrolment: a single-use join token for a credential. Waits for a token, and for the control plane, as long as it
 * takes, or until somebody has put a good credential into its file (the one that a reset showed). The token lies in a
 * file that an operator wrote; an agent that reaches the control plane by root's own socket is given one there.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { dialledAddress, type JsonAnswer, type Logger, requestJson } from '@dock/foundation'
import { type HostFacts, type RegisteredHost, registeredHost } from '@dock/host-protocol'
import * as z from 'zod'

const retryMs = 250
const requestTimeoutMs = 10_000
/** After a token that was fresh is refused, so that not too many are made in vain. */
const refusedMs = 10_000

export type RegisterOptions = {
  url: string
  joinTokenFile: string
  /** What this host was before, good or not: it stays the same host. */
  former: RegisteredHost | null
  /** A credential that has come into its file by another way, if one has. */
  replaced(): Promise<RegisteredHost | null>
  facts(): Promise<HostFacts>
  signal: AbortSignal
  logger: Logger
}

const readToken = async (path: string): Promise<string | null> => {
  const token = await readFile(path, 'utf8').catch(() => '')
  return token.trim() || null
}

// The control plane wraps its answers; the host's part is the same with and without.
const answer = z.union([
  registeredHost,
  z.object({ ok: z.literal(true), data: registeredHost }).transform((envelope) => envelope.data),
])

const givenToken = z.object({ ok: z.literal(true), data: z.object({ joinToken: z.string() }) })

const isOk = ({ status }: JsonAnswer): boolean => status >= 200 && status < 300

/** Answers the credential. Throws the signal's reason when that ends the wait. */
export async function registerHost(options: RegisterOptions): Promise<RegisteredHost> {
  const { url, joinTokenFile, former, signal, logger } = options
  const isLocal = dialledAddress(url).socketPath !== undefined
  /** Null when the control plane does not answer. */
  const post = (path: string, body: object): Promise<JsonAnswer | null> =>
    requestJson(url, path, {
      method: 'POST',
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    }).catch((error: unknown) => {
      logger.debug({ err: error }, 'the control plane does not answer')
      return null
    })
  const askToken = async (): Promise<string | null> => {
    const response = await post('/v1/fleet/join-token', {})
    return response && isOk(response) ? givenToken.parse(response.body).data.joinToken : null
  }
  let spentToken: string | null = null
  let isWaitLogged = false
  for (;;) {
    signal.throwIfAborted()
    const replaced = await options.replaced()
    if (replaced) return replaced
    const joinToken = isLocal ? await askToken() : await readToken(joinTokenFile)
    if (joinToken && joinToken !== spentToken) {
      const proof = former ? { hostId: former.hostId, formerCredential: former.credential } : {}
      const body = { joinToken, ...proof, facts: await options.facts() }
      const response = await post('/v1/fleet/register', body)
      if (response && isOk(response)) return answer.parse(response.body)
      if (response) {
        logger.warn({ status: response.status, answer: response.body }, 'the join token was refused')
        // A refused token does not become good again; a server that is not ready does.
        if (response.status < 500) spentToken = joinToken
        if (isLocal) await delay(refusedMs, undefined, { signal })
      }
    } else if (!isLocal && !isWaitLogged) {
      isWaitLogged = true
      logger.info({ joinTokenFile }, 'waiting for a join token')
    }
    await delay(retryMs, undefined, { signal })
  }
}

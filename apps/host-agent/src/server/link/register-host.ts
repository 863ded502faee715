/**
 * Enrolment: exchanges a single-use join token for a credential. Waits without limit for a token and for the control plane,
 * or until a valid credential (shown after a reset) appears in the credential file. The token comes from a file that an
 * operator wrote. An agent that uses the control plane's local root socket requests a token there instead.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { dialledAddress, type JsonAnswer, type Logger, requestJson } from '@dock/foundation'
import { type HostFacts, type RegisteredHost, registeredHost } from '@dock/host-protocol'
import * as z from 'zod'

const retryMs = 250
const requestTimeoutMs = 10_000
/** Pause after a fresh token was refused, so that the agent does not request too many tokens. */
const refusedMs = 10_000

export type RegisterOptions = {
  url: string
  joinTokenFile: string
  /** This host's former identity, valid or not, so that it keeps its id. */
  former: RegisteredHost | null
  /** Returns a new credential that was written to the credential file, or null. */
  replaced(): Promise<RegisteredHost | null>
  facts(): Promise<HostFacts>
  signal: AbortSignal
  logger: Logger
}

const readToken = async (path: string): Promise<string | null> => {
  const token = await readFile(path, 'utf8').catch(() => '')
  return token.trim() || null
}

// The control plane's socket wraps responses in an envelope; accept both forms.
const answer = z.union([
  registeredHost,
  z.object({ ok: z.literal(true), data: registeredHost }).transform((envelope) => envelope.data),
])

const givenToken = z.object({ ok: z.literal(true), data: z.object({ joinToken: z.string() }) })

const isOk = ({ status }: JsonAnswer): boolean => status >= 200 && status < 300

/** Returns the credential. Throws the signal's reason when it aborts. */
export async function registerHost(options: RegisterOptions): Promise<RegisteredHost> {
  const { url, joinTokenFile, former, signal, logger } = options
  const isLocal = dialledAddress(url).socketPath !== undefined
  /** Returns null if the control plane does not respond. */
  const post = (path: string, body: object): Promise<JsonAnswer | null> =>
    requestJson(url, path, {
      method: 'POST',
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    }).catch((error: unknown) => {
      logger.debug({ err: error }, 'the control plane does not respond; retrying')
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
        logger.warn(
          { status: response.status, answer: response.body },
          'the control plane refused the join token',
        )
        // A refused token stays invalid, but a server error may pass.
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

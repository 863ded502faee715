/**
 * Enrolment: a single-use join token for a credential. Waits for a token, and for the control plane, as long as it
 * takes, or until somebody has put a good credential into its file (the one that a reset showed).
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@dock/foundation'
import { type HostFacts, type RegisteredHost, registeredHost } from '@dock/host-protocol'
import * as z from 'zod'

const retryMs = 250
const requestTimeoutMs = 10_000

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

/** Answers the credential. Throws the signal's reason when that ends the wait. */
export const registerHost = async (options: RegisterOptions): Promise<RegisteredHost> => {
  const { url, joinTokenFile, former, signal, logger } = options
  let spentToken: string | null = null
  let isWaitLogged = false
  for (;;) {
    signal.throwIfAborted()
    const replaced = await options.replaced()
    if (replaced) return replaced
    const joinToken = await readToken(joinTokenFile)
    if (joinToken && joinToken !== spentToken) {
      const proof = former ? { hostId: former.hostId, formerCredential: former.credential } : {}
      const body = { joinToken, ...proof, facts: await options.facts() }
      const response = await fetch(new URL('/v1/fleet/register', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
      }).catch((error: unknown) => {
        logger.debug({ err: error }, 'the control plane does not answer')
        return null
      })
      if (response?.ok) return answer.parse(await response.json())
      if (response) {
        logger.warn({ status: response.status, answer: await response.text() }, 'the join token was refused')
        // A refused token does not become good again; a server that is not ready does.
        if (response.status < 500) spentToken = joinToken
      }
    } else if (!isWaitLogged) {
      isWaitLogged = true
      logger.info({ joinTokenFile }, 'waiting for a join token')
    }
    await delay(retryMs, undefined, { signal })
  }
}

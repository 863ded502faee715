/**
 * Limits the guesses at a password. Failures count per account and client address, so a stranger's failures do not keep
 * the account's owner out. A second limit holds for guesses from many addresses. It spares devices in which the account
 * signed in before; such a device has a signed cookie and a count of its own (OWASP, "Device cookies").
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RateLimitName } from '@dock/contract'
import { networkOf } from '@dock/foundation'
import type { RateLimits } from '../../../rate-limits/rate-limits.ts'
import { deviceCookieName } from './session-cookie.ts'

export type PasswordAttempt = {
  /** Call it if the password was right. Returns a `Set-Cookie` value that makes the device known. */
  succeeded(): Promise<string>
}

export type PasswordAttempts = {
  /** Counts an attempt. `account` is a hash of the address. Throws `rate_limited` over a limit. */
  begin(account: string, cookieHeader: string | null, clientAddress: string): Promise<PasswordAttempt>
}

type Count = readonly [limit: RateLimitName, subject: string]

const yearSeconds = 365 * 24 * 3600
const deviceIdBytes = 16

const cookieValue = (header: string | null, name: string): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)

/** Creates the limits. `secret` signs the cookies of known devices. `secure` is true if Dock is served over https. */
export function createPasswordAttempts(
  rateLimits: RateLimits,
  { secret, secure }: { secret: string; secure: boolean },
): PasswordAttempts {
  const name = deviceCookieName(secure)
  const sign = (account: string, id: string): string =>
    createHmac('sha256', secret).update(`known device ${account} ${id}`).digest('base64url')

  /** Returns the id in the cookie if its signature is for this account. */
  const knownDevice = (account: string, header: string | null): string | undefined => {
    const [id, given] = cookieValue(header, name)?.split('.') ?? []
    if (!id || !given) return undefined
    const [expected, actual] = [Buffer.from(sign(account, id)), Buffer.from(given)]
    return expected.length === actual.length && timingSafeEqual(expected, actual) ? id : undefined
  }

  return {
    begin: async (account, cookieHeader, clientAddress) => {
      const known = knownDevice(account, cookieHeader)
      const counts: Count[] = known
        ? [['signInsPerAccount', `${account} ${known}`]]
        : [
            ['signInsPerAccount', `${account} ${networkOf(clientAddress)}`],
            ['signInsPerAccountAnywhere', account],
          ]
      for (const [limit, subject] of counts) await rateLimits.take(limit, subject)
      return {
        succeeded: async () => {
          await Promise.all(counts.map(([limit, subject]) => rateLimits.giveBack(limit, subject)))
          const id = known ?? randomBytes(deviceIdBytes).toString('base64url')
          const attributes = `Max-Age=${yearSeconds}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
          return `${name}=${id}.${sign(account, id)}; ${attributes}`
        },
      }
    },
  }
}

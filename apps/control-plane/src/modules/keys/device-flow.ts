/**
 * Signing in with the hosted assistant's provider on a device without a browser (RFC 8628): what is said to the provider
 * and what its answers mean. Whatever it answers that the standard does not foresee is {@link ProviderUnavailable}.
 */
import * as z from 'zod'

export type DeviceFlowSettings = { clientId: string; deviceUrl: string; tokenUrl: string; scope: string }

export type DeviceGrant = {
  deviceCode: string
  userCode: string
  verificationUrl: string
  intervalSeconds: number
  expiresInSeconds: number
}

export type ProviderTokens = {
  accessToken: string
  refreshToken: string | null
  idToken: string | null
  expiresInSeconds: number | null
}

export type PollAnswer =
  | { state: 'pending' }
  /** Asked too often: the interval grows. */
  | { state: 'slow_down' }
  /** The code ran out, or the person refused. */
  | { state: 'ended' }
  | { state: 'approved'; tokens: ProviderTokens }

export type DeviceFlow = {
  start(): Promise<DeviceGrant>
  poll(deviceCode: string): Promise<PollAnswer>
}

/** The provider was not reached, or answered what cannot be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

const patienceMs = 10_000
const answerBytesMax = 64 * 1024
const intervalDefault = 5
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

const text = z.string().min(1).max(16_384)
const seconds = z.number().positive().max(86_400)
const grantAnswer = z.object({
  device_code: text,
  user_code: z.string().min(1).max(64),
  verification_uri: z.url({ protocol: /^https?$/ }).max(2_000),
  expires_in: seconds,
  interval: seconds.max(300).optional(),
})
const tokenAnswer = z.object({
  access_token: text,
  refresh_token: text.nullish(),
  id_token: text.nullish(),
  expires_in: z.number().positive().nullish(),
})
const errorAnswer = z.object({ error: z.string() })

const readBounded = async (response: Response): Promise<string> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > answerBytesMax) throw new ProviderUnavailable('the answer is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const ask = async (url: string, form: Record<string, string>): Promise<{ status: number; body: unknown }> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(form),
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: response.status, body: JSON.parse(await readBounded(response)) as unknown }
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    throw new ProviderUnavailable('the provider was not reached or did not answer with JSON', {
      cause: error,
    })
  }
}

export function createDeviceFlow(settings: DeviceFlowSettings): DeviceFlow {
  return {
    start: async () => {
      const { status, body } = await ask(settings.deviceUrl, {
        client_id: settings.clientId,
        scope: settings.scope,
      })
      const answer = grantAnswer.safeParse(body)
      if (status !== 200 || !answer.success) throw new ProviderUnavailable(`no grant, status ${status}`)
      const { data } = answer
      return {
        deviceCode: data.device_code,
        userCode: data.user_code,
        verificationUrl: data.verification_uri,
        intervalSeconds: Math.ceil(data.interval ?? intervalDefault),
        expiresInSeconds: data.expires_in,
      }
    },

    poll: async (deviceCode) => {
      const { status, body } = await ask(settings.tokenUrl, {
        grant_type: grantType,
        client_id: settings.clientId,
        device_code: deviceCode,
      })
      if (status === 200) {
        const answer = tokenAnswer.safeParse(body)
        if (!answer.success) throw new ProviderUnavailable('tokens of an unknown form')
        const { access_token, refresh_token, id_token, expires_in } = answer.data
        return {
          state: 'approved',
          tokens: {
            accessToken: access_token,
            refreshToken: refresh_token ?? null,
            idToken: id_token ?? null,
            expiresInSeconds: expires_in ?? null,
          },
        }
      }
      const answer = errorAnswer.safeParse(body)
      switch (answer.data?.error) {
        case 'authorization_pending':
          return { state: 'pending' }
        case 'slow_down':
          return { state: 'slow_down' }
        case 'expired_token':
        case 'access_denied':
        case 'invalid_grant':
          return { state: 'ended' }
        default:
          throw new ProviderUnavailable(`no tokens, status ${status}`)
      }
    },
  }
}

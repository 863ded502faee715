/**
 * Client for the OAuth 2.0 device authorization grant (RFC 8628), with which users sign in to the hosted assistant's
 * provider. Throws {@link ProviderUnavailable} for every response that the RFC does not define.
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
  /** Polled too often. The caller must increase the interval. */
  | { state: 'slow_down' }
  /** The code has expired, or the user refused. */
  | { state: 'ended' }
  | { state: 'approved'; tokens: ProviderTokens }

export type DeviceFlow = {
  /** Requests a device code and a user code. */
  start(): Promise<DeviceGrant>
  /** Requests the tokens for a device code. The caller enforces the interval. */
  poll(deviceCode: string): Promise<PollAnswer>
}

/** The provider could not be reached, or its response cannot be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

const requestTimeoutMs = 10_000
const responseBytesMax = 64 * 1024
const defaultIntervalSeconds = 5
const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

const text = z.string().min(1).max(16_384)
const seconds = z.number().positive().max(86_400)
const grantResponse = z.object({
  device_code: text,
  user_code: z.string().min(1).max(64),
  verification_uri: z.url({ protocol: /^https?$/ }).max(2_000),
  expires_in: seconds,
  interval: seconds.max(300).optional(),
})
const tokenResponse = z.object({
  access_token: text,
  refresh_token: text.nullish(),
  id_token: text.nullish(),
  expires_in: z.number().positive().nullish(),
})
const errorResponse = z.object({ error: z.string() })

const readBounded = async (response: Response): Promise<string> => {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > responseBytesMax)
      throw new ProviderUnavailable(`the provider's response exceeds ${responseBytesMax} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

const postForm = async (
  url: string,
  form: Record<string, string>,
): Promise<{ status: number; body: unknown }> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(form),
      redirect: 'error',
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    return { status: response.status, body: JSON.parse(await readBounded(response)) as unknown }
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error
    throw new ProviderUnavailable('could not reach the provider or parse its response as JSON', {
      cause: error,
    })
  }
}

/** Creates a client for one provider. */
export function createDeviceFlow(settings: DeviceFlowSettings): DeviceFlow {
  return {
    start: async () => {
      const { status, body } = await postForm(settings.deviceUrl, {
        client_id: settings.clientId,
        scope: settings.scope,
      })
      const response = grantResponse.safeParse(body)
      if (status !== 200 || !response.success)
        throw new ProviderUnavailable(`the provider returned no valid device grant, status ${status}`)
      const { data } = response
      return {
        deviceCode: data.device_code,
        userCode: data.user_code,
        verificationUrl: data.verification_uri,
        intervalSeconds: Math.ceil(data.interval ?? defaultIntervalSeconds),
        expiresInSeconds: data.expires_in,
      }
    },

    poll: async (deviceCode) => {
      const { status, body } = await postForm(settings.tokenUrl, {
        grant_type: grantType,
        client_id: settings.clientId,
        device_code: deviceCode,
      })
      if (status === 200) {
        const response = tokenResponse.safeParse(body)
        if (!response.success) throw new ProviderUnavailable('the provider returned invalid tokens')
        const { access_token, refresh_token, id_token, expires_in } = response.data
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
      const response = errorResponse.safeParse(body)
      switch (response.data?.error) {
        case 'authorization_pending':
          return { state: 'pending' }
        case 'slow_down':
          return { state: 'slow_down' }
        case 'expired_token':
        case 'access_denied':
        case 'invalid_grant':
          return { state: 'ended' }
        default:
          throw new ProviderUnavailable(`the provider returned an unknown error, status ${status}`)
      }
    },
  }
}

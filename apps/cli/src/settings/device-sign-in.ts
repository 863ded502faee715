/** Sign-in by a code that a person confirms in a browser (RFC 8628). */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { cleanText } from '../output/clean-text.ts'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'
import { openPage, webAddress } from './open-page.ts'

type Reply = Record<string, unknown>

const post = async (url: string, path: string, body: Reply): Promise<{ status: number; reply: Reply }> => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
  }).catch((error: unknown) => {
    throw new LocalError('connection_failed', `${url} cannot be reached: ${(error as Error).message}`)
  })
  const envelope = (await response.json().catch(() => ({}))) as Reply
  const data =
    typeof envelope.data === 'object' && envelope.data !== null ? (envelope.data as Reply) : envelope
  return { status: response.status, reply: data }
}

const textOf = (reply: Reply, ...names: string[]): string | undefined => {
  for (const name of names) if (typeof reply[name] === 'string') return reply[name]
  return undefined
}

const numberOf = (reply: Reply, name: string, fallback: number, most: number): number => {
  const value = reply[name]
  return typeof value === 'number' && value > 0 ? Math.min(value, most) : fallback
}

/** Returns the name of the key that the sign-in makes. */
const keyName = (): string => `dock on ${cleanText(hostname()).slice(0, 60)}`

const show = async (context: Context, reply: Reply): Promise<void> => {
  const userCode = textOf(reply, 'user_code', 'userCode') ?? ''
  const page = webAddress(textOf(reply, 'verification_uri', 'verificationUri') ?? '')
  const whole = textOf(reply, 'verification_uri_complete', 'verificationUriComplete')
  const wholePage = whole === undefined ? page : webAddress(whole)
  context.out.clear()
  // Needed for the sign-in, so it is shown also in quiet mode. What the service named is cleaned.
  process.stderr.write(`Open ${cleanText(page)} and enter the code: ${cleanText(userCode).slice(0, 40)}\n`)
  if (context.isInteractive && !(await openPage(wholePage)))
    context.out.note('No browser was found on this computer. Open the page on any other.')
}

/** Shows the code, waits until it is confirmed, and returns the new key. */
export async function signInByDevice(
  context: Context,
  url: string,
): Promise<{ apiKey: string; keyId: string | undefined }> {
  const name = keyName()
  const begun = await post(url, '/v1/device/code', { client_id: 'dock-cli', name })
  const deviceCode = textOf(begun.reply, 'device_code', 'deviceCode')
  if (begun.status >= 400 || deviceCode === undefined)
    throw new LocalError(
      'device_sign_in_unavailable',
      `${url} offers no sign-in by code (HTTP ${begun.status}). Make an API key in its dashboard, and run: dock login ${url} --key`,
    )
  await show(context, begun.reply)
  const deadline = Date.now() + numberOf(begun.reply, 'expires_in', 600, 3600) * 1000
  let seconds = numberOf(begun.reply, 'interval', 5, 60)
  const wait = async (): Promise<{ apiKey: string; keyId: string | undefined }> => {
    while (Date.now() < deadline) {
      await sleep(seconds * 1000)
      const { reply } = await post(url, '/v1/device/token', {
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'dock-cli' },
        device_code: deviceCode,
      })
      const apiKey = textOf(reply, 'apiKey', 'access_token', 'api_key')
      if (apiKey !== undefined) return { apiKey, keyId: textOf(reply, 'keyId', 'id') }
      const state = textOf(reply, 'error', 'code', 'status', 'state')
      if (state === 'slow_down') seconds += 5
      else if (state === 'access_denied')
        throw new LocalError('access_denied', 'The sign-in was refused in the browser.')
      else if (state !== 'authorization_pending' && state !== 'pending' && state !== 'rate_limited') break
    }
    throw new LocalError('device_code_expired', 'The code was not confirmed in time. Run dock login again.')
  }
  return context.out.wait('Waiting until you confirm the code', wait())
}

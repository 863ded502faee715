/** Sign-in by a code that a person confirms in a browser. docs/device-sign-in.md describes the exchange. */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, hasCode } from '@dock/sdk'
import { cleanText } from '../output/clean-text.ts'
import type { Context } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'
import { openPage, webAddress } from './open-page.ts'

export type NewKey = { apiKey: string; keyId: string }

/** A client that sends no key: the SDK would send `DOCK_API_KEY`, which may belong to another service. */
const clientWithoutKey = (url: string): Client =>
  createClient({
    baseUrl: url,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers)
      headers.delete('authorization')
      return fetch(input, { ...init, headers, redirect: 'error' })
    },
  })

const shownCode = (code: unknown): string => cleanText(String(code)).slice(0, 40)

const secondsOf = (seconds: unknown): number =>
  typeof seconds === 'number' && seconds >= 1 ? Math.min(seconds, 60) : 5

/** Asks until the person has decided. */
const untilApproved = async (
  client: Client,
  deviceCode: string,
  first: number,
  until: number,
): Promise<NewKey> => {
  let seconds = first
  while (Date.now() < until) {
    await sleep(seconds * 1000)
    try {
      const progress = await client.call('redeemDeviceCode', { body: { deviceCode } })
      if (progress.state === 'approved') return { apiKey: progress.apiKey, keyId: progress.id }
      seconds = secondsOf(progress.intervalSeconds)
    } catch (error) {
      if (hasCode(error, 'forbidden'))
        throw new LocalError('access_denied', 'The sign-in was denied in the browser.')
      if (!hasCode(error, 'rate_limited', 'service_unavailable', 'connection_failed')) throw error
    }
  }
  throw new LocalError('device_code_expired', 'The code was not confirmed in time. Run dock login again.')
}

/** Shows the code, waits until a person has confirmed it, and returns the new key. */
export async function signInByDevice(context: Context, url: string): Promise<NewKey> {
  const client = clientWithoutKey(url)
  const machineName = cleanText(hostname()).slice(0, 100) || 'a computer'
  const code = await client.call('createDeviceCode', { body: { machineName } })
  const page = webAddress(code.verificationUrl)
  const whole = webAddress(code.verificationUrlComplete)
  // Needed for the sign-in, so it is shown in quiet mode too. What the service named is cleaned.
  context.out.stderr.write(
    `Open ${cleanText(page)} and compare or enter the code: ${shownCode(code.userCode)}\n`,
  )
  if (context.isInteractive && !(await openPage(whole)))
    context.out.note('No browser was found on this computer. Open the page on any other.')
  const until = Math.min(Date.parse(code.expiresAt) || 0, Date.now() + 3_600_000)
  const work = untilApproved(client, code.deviceCode, secondsOf(code.intervalSeconds), until)
  return context.out.wait('Waiting until you confirm the code', work)
}

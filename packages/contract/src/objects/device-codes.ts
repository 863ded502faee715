/** Extensions: sign-in of a machine without a browser, in the shape of RFC 8628. */
import * as z from 'zod'
import { timestamp } from '../fields.ts'
import { createdApiKey } from './keys.ts'

export const deviceCode = z.strictObject({
  /** Secret of the machine. It is shown to nobody. */
  deviceCode: z.string(),
  /** A person compares it with the code on the page: `BCDF-GHJK`. */
  userCode: z.string(),
  verificationUrl: z.string(),
  /** The same page with the user code filled in. */
  verificationUrlComplete: z.string(),
  /** Seconds between two polls. */
  intervalSeconds: z.int().min(1),
  expiresAt: timestamp,
})
export type DeviceCode = z.output<typeof deviceCode>

const intervalSeconds = z.int().min(1)
export const deviceCodePending = z.strictObject({ state: z.literal('pending'), intervalSeconds })
/** The machine polled too early. From now on it waits `intervalSeconds`, which has grown. */
export const deviceCodeSlowDown = z.strictObject({ state: z.literal('slow_down'), intervalSeconds })
/** Returned once. */
export const deviceCodeApproved = createdApiKey.extend({ state: z.literal('approved') })

export const deviceCodeProgress = z.discriminatedUnion('state', [
  deviceCodePending,
  deviceCodeSlowDown,
  deviceCodeApproved,
])
export type DeviceCodeProgress = z.output<typeof deviceCodeProgress>

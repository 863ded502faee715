import type { DeviceSignIn } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { deviceCodeColumn, placeIn, putDeviceSignIn } from './assistant-store.ts'
import { mapProviderErrors, requireDeviceFlow } from './require-device-flow.ts'

/** Starts a sign-in with the hosted assistant's provider. It replaces an unfinished sign-in of the caller. */
export async function startDeviceSignIn(context: KeysContext, caller: Caller): Promise<DeviceSignIn> {
  const { db, clock, rateLimits, sealer } = context
  const flow = requireDeviceFlow(context)
  const { userId } = caller
  await rateLimits.take('deviceSignIns', userId)
  const grant = await mapProviderErrors(flow.start())
  const [id, now] = [newUuid(), clock.now()]
  const expiresAt = new Date(now.getTime() + grant.expiresInSeconds * 1000)
  const owner = { kind: 'person', id: userId } as const
  await putDeviceSignIn(db, {
    id,
    user_id: userId,
    sealed_device_code: await sealer.seal(owner, placeIn(deviceCodeColumn, id), grant.deviceCode),
    interval_seconds: grant.intervalSeconds,
    next_poll_at: now,
    expires_at: expiresAt,
  })
  return {
    userCode: grant.userCode,
    verificationUrl: grant.verificationUrl,
    intervalSeconds: grant.intervalSeconds,
    expiresAt: expiresAt.toISOString(),
  }
}

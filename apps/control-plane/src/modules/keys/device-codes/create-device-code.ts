import { type DeviceCode, limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { KeysContext } from '../keys-context.ts'
import { insertDeviceCode } from './device-code-store.ts'
import { cleanMachineName } from './machine-name.ts'
import { hashCode, newDeviceCode, newUserCode } from './user-code.ts'

const { expirySeconds, intervalSeconds } = limits.deviceCodes
const attemptsMax = 5

/** Starts the sign-in of a machine. Nobody is signed in yet: a person approves it on the page, under their own name. */
export async function createDeviceCode(
  context: KeysContext,
  body: { machineName: string },
  clientAddress: string,
): Promise<DeviceCode> {
  const { db, clock, rateLimits, apiUrl } = context
  await rateLimits.take('deviceCodesPerAddress', clientAddress)
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + expirySeconds * 1000)
  const deviceCode = newDeviceCode()
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const userCode = newUserCode()
    const inserted = await insertDeviceCode(db, {
      id: newUuid(),
      device_code_hash: hashCode(deviceCode),
      user_code_hash: hashCode(userCode),
      machine_name: cleanMachineName(body.machineName),
      client_address: clientAddress,
      interval_seconds: intervalSeconds.first,
      next_poll_at: now,
      user_id: null,
      decision: null,
      created_at: now,
      expires_at: expiresAt,
    })
    if (!inserted) continue
    const verificationUrl = `${apiUrl}/device`
    return {
      deviceCode,
      userCode,
      verificationUrl,
      verificationUrlComplete: `${verificationUrl}?code=${userCode}`,
      intervalSeconds: intervalSeconds.first,
      expiresAt: expiresAt.toISOString(),
    }
  }
  throw new Error(`no free user code in ${attemptsMax} attempts`)
}

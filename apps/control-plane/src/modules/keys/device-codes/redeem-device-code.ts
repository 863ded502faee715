import { type DeviceCodeProgress, limits, ServiceError } from '@dock/contract'
import { type Tx, withTransaction } from '../../../database/database.ts'
import { recordAudit } from '../../audit/index.ts'
import { insertApiKeyWithinLimit } from '../api-keys/api-key-store.ts'
import { apiKeyView } from '../api-keys/api-key-view.ts'
import type { KeysContext } from '../keys-context.ts'
import { lockKeyOwner } from '../lock-key-owner.ts'
import {
  type DeviceCodeRow,
  deleteDeviceCode,
  findApprover,
  lockByDeviceCode,
  setPollTurn,
} from './device-code-store.ts'
import { hashCode } from './user-code.ts'

const { intervalSeconds } = limits.deviceCodes
/** A client's timer and the network are not exact: a poll that is early by less than this counts as in time. */
const toleranceMs = 1000

/** Grants the next turn one interval from now. A poll before its turn makes the interval longer. */
const takeTurn = async (tx: Tx, row: DeviceCodeRow, now: Date): Promise<DeviceCodeProgress> => {
  const early = now.getTime() < row.next_poll_at.getTime() - toleranceMs
  const seconds = early
    ? Math.min(row.interval_seconds + intervalSeconds.step, intervalSeconds.max)
    : row.interval_seconds
  const nextPollAt = new Date(now.getTime() + seconds * 1000)
  await setPollTurn(tx, row.id, { intervalSeconds: seconds, nextPollAt })
  return { state: early ? 'slow_down' : 'pending', intervalSeconds: seconds }
}

/**
 * Returns how the sign-in of a machine stands. After the approval it creates the key, returns it, and forgets the sign-in,
 * so a key is returned once and its raw value is never stored.
 * Throws `device_code_expired` for an unknown, expired or used code, and `forbidden` if the person denied it.
 */
export async function redeemDeviceCode(
  context: KeysContext,
  body: { deviceCode: string },
  clientAddress: string,
): Promise<DeviceCodeProgress> {
  const { db, clock, rateLimits } = context
  await rateLimits.take('deviceCodePollsPerAddress', clientAddress)
  const now = clock.now()
  return withTransaction(db, async (tx) => {
    const hash = hashCode(body.deviceCode)
    // The person is locked before the sign-in, as by the closing of an account. The other order would be a deadlock.
    const owner = await findApprover(tx, hash)
    if (owner !== null) await lockKeyOwner(tx, owner)
    const row = await lockByDeviceCode(tx, hash)
    if (!row || row.expires_at <= now) throw new ServiceError('device_code_expired')
    if (row.decision === 'denied')
      throw new ServiceError('forbidden', {
        message: 'The sign-in was denied in the browser. Start again if that was a mistake.',
      })
    const { user_id: userId } = row
    // Who has approved since is seen by the next poll.
    if (userId === null || userId !== owner) return takeTurn(tx, row, now)
    const key = { userId, name: row.machine_name, expiresAt: null, now }
    const { row: created, raw } = await insertApiKeyWithinLimit(tx, key)
    await deleteDeviceCode(tx, row.id)
    const machine = { kind: 'api_key', userId, credentialId: created.id, address: clientAddress } as const
    await recordAudit(tx, machine, {
      action: 'account.signed_in',
      now,
      organizationId: 'own',
      target: { type: 'person', id: userId },
      details: { method: 'device code', machine: row.machine_name },
    })
    return { state: 'approved', ...apiKeyView(created), apiKey: raw }
  })
}

import { type DeviceSignInProgress, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import {
  assistantTokensColumn,
  type ConnectionRow,
  type DeviceSignInRow,
  deleteDeviceSignIn,
  deviceCodeColumn,
  findDeviceSignIn,
  placeIn,
  putConnection,
  slowDown,
  takePollTurn,
} from './assistant-store.ts'
import { assistantTarget, connectionView } from './assistant-view.ts'
import type { ProviderTokens } from './device-flow.ts'
import { readIdToken } from './id-token.ts'
import { mapProviderErrors, requireDeviceFlow } from './require-device-flow.ts'

/** RFC 8628, section 3.5: the interval grows by 5 seconds on each `slow_down`. */
const slowDownSeconds = 5

/** Stores the tokens. Returns undefined and stores nothing if a newer sign-in has replaced this one. */
const storeTokens = async (
  context: KeysContext,
  caller: Caller,
  signIn: DeviceSignInRow,
  tokens: ProviderTokens,
): Promise<ConnectionRow | undefined> => {
  const { db, clock, sealer } = context
  const [id, now, userId] = [newUuid(), clock.now(), signIn.user_id]
  const { accessToken, refreshToken, idToken, expiresInSeconds } = tokens
  const expiresAt = expiresInSeconds === null ? null : new Date(now.getTime() + expiresInSeconds * 1000)
  const { email, planType } = readIdToken(idToken)
  const row: ConnectionRow = {
    id,
    user_id: userId,
    sealed_tokens: await sealer.seal(
      { kind: 'person', id: userId },
      placeIn(assistantTokensColumn, id),
      JSON.stringify({ accessToken, refreshToken, idToken, expiresAt }),
    ),
    email,
    plan_type: planType,
    expires_at: refreshToken === null ? expiresAt : null,
    updated_at: now,
  }
  return withTransaction(db, async (tx) => {
    if (!(await deleteDeviceSignIn(tx, signIn.id))) return undefined
    await putConnection(tx, row)
    await recordAudit(tx, caller, {
      action: 'account.connection_added',
      now,
      organizationId: 'own',
      target: assistantTarget,
    })
    return row
  })
}

/**
 * Asks the provider whether the user has approved the sign-in, at most once per interval. Throws `device_code_expired`
 * if the user must start again, and `chatgpt_unavailable` if the provider failed, after which polling may continue.
 */
export async function pollDeviceSignIn(context: KeysContext, caller: Caller): Promise<DeviceSignInProgress> {
  const { db, clock, sealer } = context
  const flow = requireDeviceFlow(context)
  const signIn = await findDeviceSignIn(db, caller.userId)
  if (!signIn) throw new ServiceError('device_code_expired')
  const end = async (): Promise<never> => {
    await deleteDeviceSignIn(db, signIn.id)
    throw new ServiceError('device_code_expired')
  }
  if (signIn.expires_at <= clock.now()) return end()
  if (!(await takePollTurn(db, signIn, clock.now()))) return { state: 'pending' }
  const owner = { kind: 'person', id: caller.userId } as const
  const place = placeIn(deviceCodeColumn, signIn.id)
  const deviceCode = await sealer.open(owner, place, signIn.sealed_device_code)
  const answer = await mapProviderErrors(flow.poll(deviceCode))
  switch (answer.state) {
    case 'pending':
      return { state: 'pending' }
    case 'slow_down':
      await slowDown(db, signIn.id, signIn.interval_seconds + slowDownSeconds, clock.now())
      return { state: 'pending' }
    case 'ended':
      return end()
    case 'approved': {
      const connection = await storeTokens(context, caller, signIn, answer.tokens)
      if (!connection) return { state: 'pending' }
      return { state: 'connected', ...connectionView(connection, clock.now()) }
    }
  }
}

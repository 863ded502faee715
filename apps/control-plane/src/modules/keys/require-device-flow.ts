import { ServiceError } from '@dock/contract'
import { type DeviceFlow, ProviderUnavailable } from './device-flow.ts'
import type { KeysContext } from './keys-context.ts'

/** Throws `chatgpt_signin_disabled` where the instance has no such sign-in. */
export function requireDeviceFlow({ deviceFlow }: Pick<KeysContext, 'deviceFlow'>): DeviceFlow {
  if (!deviceFlow) throw new ServiceError('chatgpt_signin_disabled')
  return deviceFlow
}

/** The provider's answer, or `chatgpt_unavailable`. */
export async function orUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw error instanceof ProviderUnavailable
      ? new ServiceError('chatgpt_unavailable', { cause: error })
      : error
  }
}

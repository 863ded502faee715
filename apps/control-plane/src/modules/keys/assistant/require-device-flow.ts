import { ServiceError } from '@dock/contract'
import type { KeysContext } from '../keys-context.ts'
import { type DeviceFlow, ProviderUnavailable } from './device-flow.ts'

/** Returns the device flow. Throws `chatgpt_signin_disabled` if the instance has none configured. */
export function requireDeviceFlow({ deviceFlow }: Pick<KeysContext, 'deviceFlow'>): DeviceFlow {
  if (!deviceFlow) throw new ServiceError('chatgpt_signin_disabled')
  return deviceFlow
}

/** Awaits a request to the provider. Throws `chatgpt_unavailable` in place of {@link ProviderUnavailable}. */
export async function mapProviderErrors<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw error instanceof ProviderUnavailable
      ? new ServiceError('chatgpt_unavailable', { cause: error })
      : error
  }
}

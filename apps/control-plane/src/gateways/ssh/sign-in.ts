/** Signs a client in whose key belongs to an account that reaches a Dock by the client's user name. */
import { fingerprintOf, type SignInResult } from '@dock/ssh-server'
import { type Entrance, findEntrance } from './find-entrance.ts'
import type { SshContext } from './ssh-context.ts'

/**
 * Returns the function that decides about a client with a valid signature. It calls `onEntered` once, before the client
 * learns that it is signed in. Before there is a signature nothing is looked up: a different response for some keys would
 * tell strangers whose they are and what their Docks are called.
 */
export function createSignIn(
  context: Pick<SshContext, 'keys' | 'docks' | 'logger' | 'metrics'>,
  onEntered: (entrance: Entrance) => void,
): (proof: { userName: string; publicKey: Buffer }) => Promise<SignInResult> {
  const { keys, metrics } = context
  return async ({ userName, publicKey }) => {
    const found = await findEntrance(context, userName, fingerprintOf(publicKey))
    if ('remark' in found) {
      metrics.login('refused')
      return found
    }
    metrics.login('accepted')
    keys.recordUse(found.holder)
    onEntered(found)
    return 'accepted'
  }
}

/** Signs a client in with an SSH key of an account. Passwords and other methods are refused. */
import { limits } from '@dock/contract'
import type { AuthContext, Connection, PublicKeyAuthContext } from 'ssh2'
import ssh2 from 'ssh2'
import { fingerprintOfBytes } from '../../modules/keys/index.ts'
import { isAcceptedSignature } from './algorithms.ts'
import { type Entrance, findEntrance } from './find-entrance.ts'
import type { SshContext } from './ssh-context.ts'

const { loginAttemptsMax } = limits.ssh

const hasValidSignature = ({ key, blob, signature, hashAlgo }: PublicKeyAuthContext): boolean => {
  const parsed = ssh2.utils.parseKey(key.data)
  const [single] = Array.isArray(parsed) ? parsed : [parsed]
  if (!single || single instanceof Error || !blob || !signature) return false
  return single.verify(blob, signature, hashAlgo) === true
}

/**
 * Handles the client's attempts. Calls `onEntered` once, before the client learns that it is signed in. An attempt
 * without a signature only asks whether the key would do.
 */
export function authenticate(
  context: Pick<SshContext, 'keys' | 'docks' | 'logger' | 'metrics'>,
  client: Connection,
  onEntered: (entrance: Entrance) => void,
): void {
  let attempts = 0
  const decide = async (attempt: PublicKeyAuthContext): Promise<Entrance | null> => {
    const { key, hashAlgo, signature, username } = attempt
    if (!isAcceptedSignature(key.algo, hashAlgo)) return null
    if (signature !== undefined && !hasValidSignature(attempt)) return null
    return findEntrance(context, username, fingerprintOfBytes(key.data))
  }
  client.on('authentication', (attempt: AuthContext) => {
    if (attempt.method === 'publickey') attempts += 1
    if (attempts > loginAttemptsMax) {
      client.end()
      return
    }
    if (attempt.method !== 'publickey') {
      attempt.reject(['publickey'])
      return
    }
    decide(attempt)
      .then((entrance) => {
        if (!entrance) {
          context.metrics.login('refused')
          attempt.reject(['publickey'])
          return
        }
        if (attempt.signature !== undefined) {
          context.metrics.login('accepted')
          context.keys.recordUse(entrance.holder)
          onEntered(entrance)
        }
        attempt.accept()
      })
      .catch((error: unknown) => {
        context.logger.error({ err: error }, 'an SSH login failed')
        client.end()
      })
  })
}

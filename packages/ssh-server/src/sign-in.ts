/** Signs a client in with an SSH key of an account. Passwords and other methods are refused. */
import { limits } from '@dock/contract'
import type { AuthContext, Connection, PublicKeyAuthContext } from 'ssh2'
import ssh2, { type ParsedKey } from 'ssh2'
import { fingerprintOfBytes, isUsualRsaKey } from '../../modules/keys/index.ts'
import { isAcceptedSignature } from './algorithms.ts'
import { createAuthRemark } from './auth-remark.ts'
import { type Entrance, findEntrance } from './find-entrance.ts'
import type { SshContext } from './ssh-context.ts'

const { loginAttemptsMax } = limits.ssh
/** Longer keys are of RSA with more than 4096 bits. Their signatures take milliseconds, so a connection has few. */
const costlyKeyBytes = 560
const costlyMax = 3

/** Returns the key if it is well-formed and of a type with which clients may sign. */
const readKey = ({ key, hashAlgo }: PublicKeyAuthContext): ParsedKey | null => {
  if (!isAcceptedSignature(key.algo, hashAlgo)) return null
  if (key.algo === 'ssh-rsa' && !isUsualRsaKey(key.data)) return null
  const parsed = ssh2.utils.parseKey(key.data)
  const [single] = Array.isArray(parsed) ? parsed : [parsed]
  return single && !(single instanceof Error) && single.type === key.algo ? single : null
}

const hasValidSignature = (key: ParsedKey, { blob, signature, hashAlgo }: PublicKeyAuthContext): boolean => {
  if (!blob || !signature) return false
  return key.verify(blob, signature, hashAlgo) === true
}

/**
 * Handles the client's attempts. Calls `onEntered` once, before the client learns that it is signed in. An attempt
 * without a signature only asks whether the key would do. Every key would: anybody has public keys, and a different
 * response for some would tell strangers whose they are and what their Docks are called. So nothing is looked up before
 * there is a valid signature.
 */
export function authenticate(
  context: Pick<SshContext, 'keys' | 'docks' | 'logger' | 'metrics'>,
  client: Connection,
  onEntered: (entrance: Entrance) => void,
): void {
  let costly = 0
  const attempts = { question: 0, signature: 0, other: 0 }
  const remark = createAuthRemark(client)
  const refuse = (attempt: AuthContext): void => {
    context.metrics.login('refused')
    attempt.reject(['publickey'])
  }
  const decide = async (attempt: PublicKeyAuthContext): Promise<void> => {
    const found = await findEntrance(context, attempt.username, fingerprintOfBytes(attempt.key.data))
    if ('remark' in found) {
      if (found.remark !== null) remark(found.remark)
      return refuse(attempt)
    }
    context.metrics.login('accepted')
    context.keys.recordUse(found.holder)
    onEntered(found)
    attempt.accept()
  }
  client.on('authentication', (attempt: AuthContext) => {
    const isKey = attempt.method === 'publickey'
    const kind = !isKey ? 'other' : attempt.signature === undefined ? 'question' : 'signature'
    attempts[kind] += 1
    if (attempts[kind] > loginAttemptsMax) {
      client.end()
      return
    }
    if (!isKey) {
      attempt.reject(['publickey'])
      return
    }
    const key = readKey(attempt)
    if (!key) return refuse(attempt)
    if (kind === 'question') return void attempt.accept()
    costly += Number(attempt.key.data.length > costlyKeyBytes)
    if (costly > costlyMax || !hasValidSignature(key, attempt)) {
      context.metrics.login('refused')
      // Only a stranger who makes the gateway compute sends such signatures.
      return void client.end()
    }
    decide(attempt).catch((error: unknown) => {
      context.logger.error({ err: error }, 'an SSH login failed')
      client.end()
    })
  })
}

/** Signs a client in with a public key. Passwords and other methods are refused. */
import type { AuthContext, Connection, ParsedKey, PublicKeyAuthContext } from 'ssh2'
import ssh2 from 'ssh2'
import { isAcceptedSignature } from './algorithms.ts'
import type { ClientHandlers } from './handlers.ts'
import { isUsualRsaKey } from './keys/public-key.ts'
import { createBannerSender } from './patches/send-banner.ts'

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
 * Handles the client's attempts. An attempt without a signature only asks whether the key would do. Every key would:
 * anybody has public keys, and a different response for some would tell strangers whose they are. So `signIn` is asked
 * only about keys with a valid signature.
 */
export function signClientIn(
  client: Connection,
  { signIn, onKeyRefused, onFault }: Pick<ClientHandlers, 'signIn' | 'onKeyRefused' | 'onFault'>,
  attemptsMax: number,
): void {
  let costly = 0
  const attempts = { question: 0, signature: 0, other: 0 }
  const sendBanner = createBannerSender(client)
  const decide = async (attempt: PublicKeyAuthContext): Promise<void> => {
    const result = await signIn({ userName: attempt.username, publicKey: attempt.key.data })
    if (result === 'accepted') return attempt.accept()
    if (result.remark !== null) sendBanner(result.remark)
    attempt.reject(['publickey'])
  }
  client.on('authentication', (attempt: AuthContext) => {
    const isKey = attempt.method === 'publickey'
    const kind = !isKey ? 'other' : attempt.signature === undefined ? 'question' : 'signature'
    attempts[kind] += 1
    if (attempts[kind] > attemptsMax) return void client.end()
    if (!isKey) return attempt.reject(['publickey'])
    const key = readKey(attempt)
    if (!key) {
      onKeyRefused()
      return attempt.reject(['publickey'])
    }
    if (kind === 'question') return attempt.accept()
    costly += Number(attempt.key.data.length > costlyKeyBytes)
    if (costly > costlyMax || !hasValidSignature(key, attempt)) {
      onKeyRefused()
      // Only a stranger who makes the server compute sends such signatures.
      return void client.end()
    }
    decide(attempt).catch((error: unknown) => {
      onFault(error)
      client.end()
    })
  })
}

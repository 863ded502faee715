/** Generates key pairs of SSH. */
import ssh2 from 'ssh2'

export type KeyPairType = 'ssh-ed25519' | 'ecdsa-sha2-nistp256'
/** In OpenSSH's formats of private and public keys. */
export type SshKeyPair = { private: string; public: string }

const comment = 'dock'
const generators: Record<KeyPairType, () => SshKeyPair> = {
  'ssh-ed25519': () => ssh2.utils.generateKeyPairSync('ed25519', { comment }),
  'ecdsa-sha2-nistp256': () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256, comment }),
}

/** A wrong pair comes once in about 220. Twenty in a row mean that the generator is broken. */
const attemptsMax = 20

const isValid = (pair: SshKeyPair): boolean => {
  const [key, publicKey] = [ssh2.utils.parseKey(pair.private), ssh2.utils.parseKey(pair.public)]
  if (key instanceof Error || publicKey instanceof Error) return false
  const signature = key.sign(comment)
  return !(signature instanceof Error) && publicKey.verify(comment, signature) === true
}

/**
 * Returns a new key pair that can sign and verify. ssh2 writes an Ed25519 key that begins with a zero byte one byte
 * too short, so that no client can read it. Such a pair is thrown away.
 */
export function generateKeyPair(type: KeyPairType, generate = generators[type]): SshKeyPair {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const pair = generate()
    if (isValid(pair)) return pair
  }
  throw new Error(`the generator of ${type} keys made ${attemptsMax} invalid keys in a row`)
}

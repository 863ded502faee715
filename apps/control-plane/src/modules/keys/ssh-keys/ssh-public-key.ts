/** Parses and validates one line of an OpenSSH public key file. */
import type { KeyObject } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import { fingerprintOf, isUsualRsaKey, readPublicKey, rsaMax } from '@dock/ssh-server'

export type SshPublicKey = {
  key: KeyObject
  /** In SSH's binary format. */
  bytes: Buffer
  /** Type, key and comment, separated by single spaces. */
  line: string
  /** In the format of `ssh-keygen -l`: `SHA256:` and unpadded base64. */
  fingerprint: string
}

/** The key types whose signatures the SSH gateway can verify. */
const types = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
] as const
const rsaBitsMin = 2048
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const refuse = (why: string): ServiceError =>
  new ServiceError('validation_error', { message: `publicKey: ${why}` })

const invalid = 'is not a valid OpenSSH public key'

/** Parses a public key. Throws `validation_error` with a message that says what to correct. */
export function parseSshPublicKey(text: string): SshPublicKey {
  const trimmed = text.trim()
  if (trimmed.includes('PRIVATE KEY'))
    throw refuse('is a private key; send the .pub file and keep the private key secret')
  if (/[\r\n]/.test(trimmed)) throw refuse('must be one line, as in the .pub file')
  const [type = '', encoded = '', ...comment] = trimmed.split(/[ \t]+/)
  if (!types.some((known) => known === type)) throw refuse(`must begin with one of ${types.join(', ')}`)
  const read = base64.test(encoded) ? readPublicKey(`${type} ${encoded}`) : null
  if (!read) throw refuse(invalid)
  const { key, bytes } = read
  // The encoded bytes repeat the type. Comparing all bytes refuses a different type and trailing data.
  if (!bytes.equals(Buffer.from(encoded, 'base64'))) throw refuse(invalid)
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < rsaBitsMin) throw refuse(`RSA keys need at least ${rsaBitsMin} bits`)
  if (bits !== undefined && !isUsualRsaKey(bytes))
    throw refuse(`RSA keys need at most ${rsaMax.bits} bits, and an exponent of at most ${rsaMax.exponent}`)
  const line = [type, encoded, ...comment].join(' ')
  return { key, bytes, line, fingerprint: fingerprintOf(bytes) }
}

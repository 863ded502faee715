/** Parses and validates one line of an OpenSSH public key file. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import ssh2 from 'ssh2'
import { SshReader } from './ssh-reader.ts'

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
const rsaBitsMax = 8192
/** ssh-keygen and all usual programs use this exponent, older ones smaller ones. */
const rsaExponentMax = 65_537
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const refuse = (why: string): ServiceError =>
  new ServiceError('validation_error', { message: `publicKey: ${why}` })

const readKey = (line: string): { key: KeyObject; bytes: Buffer } => {
  const parsed = ssh2.utils.parseKey(line)
  const [single] = Array.isArray(parsed) ? parsed : [parsed]
  if (!single || single instanceof Error) throw refuse('is not a valid OpenSSH public key')
  try {
    // OpenSSL also rejects a point that is not on its curve, and an invalid modulus.
    return { key: createPublicKey(single.getPublicPEM()), bytes: single.getPublicSSH() }
  } catch {
    throw refuse('is not a valid OpenSSH public key')
  }
}

/** Parses a public key. Throws `validation_error` with a message that says what to correct. */
export function parseSshPublicKey(text: string): SshPublicKey {
  const trimmed = text.trim()
  if (trimmed.includes('PRIVATE KEY'))
    throw refuse('is a private key; send the .pub file and keep the private key secret')
  if (/[\r\n]/.test(trimmed)) throw refuse('must be one line, as in the .pub file')
  const [type = '', encoded = '', ...comment] = trimmed.split(/[ \t]+/)
  if (!types.some((known) => known === type)) throw refuse(`must begin with one of ${types.join(', ')}`)
  const { key, bytes } = base64.test(encoded) ? readKey(`${type} ${encoded}`) : readKey('')
  // The encoded bytes repeat the type. Comparing all bytes refuses a different type and trailing data.
  if (!bytes.equals(Buffer.from(encoded, 'base64'))) throw refuse('is not a valid OpenSSH public key')
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < rsaBitsMin) throw refuse(`RSA keys need at least ${rsaBitsMin} bits`)
  if (bits !== undefined && !isUsualRsaKey(bytes))
    throw refuse(`RSA keys need at most ${rsaBitsMax} bits, and an exponent of at most ${rsaExponentMax}`)
  const line = [type, encoded, ...comment].join(' ')
  return { key, bytes, line, fingerprint: fingerprintOfBytes(bytes) }
}

/**
 * Returns false for an RSA key whose signatures take long to verify. A key of 3072 bits with an exponent as long takes 75 ms,
 * and strangers send keys and signatures.
 */
export function isUsualRsaKey(bytes: Buffer): boolean {
  try {
    const reader = new SshReader(bytes)
    const [, exponent, modulus] = [reader.string(), reader.string(), reader.string()]
    const isSmall = exponent.length <= 3 && Number(`0x${exponent.toString('hex') || '0'}`) <= rsaExponentMax
    // A zero byte comes before a modulus whose first bit is set.
    return isSmall && modulus.length <= rsaBitsMax / 8 + 1
  } catch {
    return false
  }
}

/** Returns the fingerprint of a key in SSH's binary format, as `ssh-keygen -l` shows it. */
export function fingerprintOfBytes(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

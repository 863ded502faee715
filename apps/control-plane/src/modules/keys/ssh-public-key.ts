/** One line of an OpenSSH public key, checked as far as it can be without its owner. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import ssh2 from 'ssh2'

export type SshPublicKey = {
  /** Type, key and comment, separated by single spaces. */
  line: string
  /** As `ssh-keygen -l` shows it. */
  fingerprint: string
}

/** What the SSH gateway can check a signature of. */
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

const readKey = (line: string): { key: KeyObject; bytes: Buffer } => {
  const parsed = ssh2.utils.parseKey(line)
  const [single] = Array.isArray(parsed) ? parsed : [parsed]
  if (!single || single instanceof Error) throw refuse('is no OpenSSH public key')
  try {
    // OpenSSL has the last word: a point off its curve or a broken modulus is no key.
    return { key: createPublicKey(single.getPublicPEM()), bytes: single.getPublicSSH() }
  } catch {
    throw refuse('is no OpenSSH public key')
  }
}

/** Reads the key. Throws `validation_error` with what to correct. */
export function parseSshPublicKey(text: string): SshPublicKey {
  const trimmed = text.trim()
  if (trimmed.includes('PRIVATE KEY'))
    throw refuse('is a private key; give the .pub file, and keep this one to you')
  if (/[\r\n]/.test(trimmed)) throw refuse('must be one line, as in the .pub file')
  const [type = '', encoded = '', ...comment] = trimmed.split(/[ \t]+/)
  if (!types.some((known) => known === type)) throw refuse(`must begin with one of ${types.join(', ')}`)
  const { key, bytes } = base64.test(encoded) ? readKey(`${type} ${encoded}`) : readKey('')
  // The bytes name their type again, and nothing may follow them.
  if (!bytes.equals(Buffer.from(encoded, 'base64'))) throw refuse('is no OpenSSH public key')
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < rsaBitsMin) throw refuse(`RSA keys need at least ${rsaBitsMin} bits`)
  const digest = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')
  return { line: [type, encoded, ...comment].join(' '), fingerprint: `SHA256:${digest}` }
}

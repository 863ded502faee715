/** Reads public keys in OpenSSH's formats. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import ssh2 from 'ssh2'
import { SshReader } from './ssh-reader.ts'

/** The largest RSA keys that are accepted. ssh-keygen and all usual programs use this exponent, older ones smaller ones. */
export const rsaMax = { bits: 8192, exponent: 65_537 } as const

/** Reads one line of a public key file. Returns null if it is not valid. `bytes` is the key in SSH's binary format. */
export function readPublicKey(line: string): { key: KeyObject; bytes: Buffer } | null {
  const parsed = ssh2.utils.parseKey(line)
  const [single] = Array.isArray(parsed) ? parsed : [parsed]
  if (!single || single instanceof Error) return null
  try {
    // OpenSSL also rejects a point that is not on its curve, and an invalid modulus.
    return { key: createPublicKey(single.getPublicPEM()), bytes: single.getPublicSSH() }
  } catch {
    return null
  }
}

/**
 * Returns false for an RSA key whose signatures take long to verify. A key of 3072 bits with an exponent as long takes 75 ms,
 * and strangers send keys and signatures.
 */
export function isUsualRsaKey(bytes: Buffer): boolean {
  try {
    const reader = new SshReader(bytes)
    const [, exponent, modulus] = [reader.string(), reader.string(), reader.string()]
    const isSmall = exponent.length <= 3 && Number(`0x${exponent.toString('hex') || '0'}`) <= rsaMax.exponent
    // A zero byte comes before a modulus whose first bit is set.
    return isSmall && modulus.length <= rsaMax.bits / 8 + 1
  } catch {
    return false
  }
}

/** Returns the fingerprint of a key in SSH's binary format, as `ssh-keygen -l` shows it. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

/** Verifies signatures of `ssh-keygen -Y sign` (OpenSSH's PROTOCOL.sshsig). */
import { createHash, verify } from 'node:crypto'
import { bytesOfString, SshReader } from '@dock/ssh-server'
import type { SshPublicKey } from './ssh-public-key.ts'

const magic = Buffer.from('SSHSIG')
const version = 1
const armor = /-----BEGIN SSH SIGNATURE-----([A-Za-z0-9+/=\s]*)-----END SSH SIGNATURE-----/

type Digest = 'sha256' | 'sha384' | 'sha512'
type Ecdsa = { curve: string; digest: Digest; bytes: number }
const ecdsa: Readonly<Record<string, Ecdsa>> = {
  'ecdsa-sha2-nistp256': { curve: 'prime256v1', digest: 'sha256', bytes: 32 },
  'ecdsa-sha2-nistp384': { curve: 'secp384r1', digest: 'sha384', bytes: 48 },
  'ecdsa-sha2-nistp521': { curve: 'secp521r1', digest: 'sha512', bytes: 66 },
}
/** SHA-1 (`ssh-rsa`) is refused, as PROTOCOL.sshsig demands. */
const rsa: Readonly<Record<string, Digest>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }
const messageDigests: readonly string[] = ['sha256', 'sha512']

/** Returns an integer of SSH as exactly `length` bytes, or null if it is negative or too long. */
const fixedLength = (integer: Buffer, length: number): Buffer | null => {
  if (integer.length > 0 && integer[0]! >= 0x80) return null
  const start = integer.findIndex((byte) => byte !== 0)
  const digits = start === -1 ? Buffer.alloc(0) : integer.subarray(start)
  return digits.length > length ? null : Buffer.concat([Buffer.alloc(length - digits.length), digits])
}

const verifyEcdsa = ({ key }: SshPublicKey, { curve, digest, bytes }: Ecdsa, data: Buffer, value: Buffer) => {
  if (key.asymmetricKeyDetails?.namedCurve !== curve) return false
  const reader = new SshReader(value)
  const [r, s] = [fixedLength(reader.string(), bytes), fixedLength(reader.string(), bytes)]
  if (!r || !s || !reader.isAtEnd()) return false
  return verify(digest, data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat([r, s]))
}

const verifyData = (key: SshPublicKey, algorithm: string, data: Buffer, value: Buffer): boolean => {
  const type = key.key.asymmetricKeyType
  if (algorithm === 'ssh-ed25519') return type === 'ed25519' && verify(null, data, key.key, value)
  const curve = ecdsa[algorithm]
  if (curve) return type === 'ec' && verifyEcdsa(key, curve, data, value)
  const digest = rsa[algorithm]
  return digest !== undefined && type === 'rsa' && verify(digest, data, key.key, value)
}

/**
 * Returns true if `signature`, in its armor, is one of `message` by this key in this namespace. Text around the armor is
 * ignored, because people copy more than they need from a terminal.
 */
export function isSshSignature(
  signature: string,
  signed: { key: SshPublicKey; namespace: string; message: Buffer },
): boolean {
  const encoded = armor.exec(signature)?.[1]
  if (encoded === undefined) return false
  try {
    const reader = new SshReader(Buffer.from(encoded, 'base64'))
    if (!reader.bytes(magic.length).equals(magic) || reader.integer() !== version) return false
    const [publicKey, namespace, reserved] = [reader.string(), reader.string(), reader.string()]
    const [digest, value] = [reader.string().toString('latin1'), new SshReader(reader.string())]
    if (!reader.isAtEnd() || !messageDigests.includes(digest)) return false
    if (!publicKey.equals(signed.key.bytes) || namespace.toString() !== signed.namespace) return false
    const hash = createHash(digest).update(signed.message).digest()
    const fields = [namespace, reserved, Buffer.from(digest), hash].map(bytesOfString)
    const [algorithm, bytes] = [value.string().toString('latin1'), value.string()]
    return value.isAtEnd() && verifyData(signed.key, algorithm, Buffer.concat([magic, ...fields]), bytes)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** What the server offers to clients. The lists name no algorithm that OpenSSH has turned off by default. */
import type ssh2 from 'ssh2'
import { postQuantumExchange } from './patches/post-quantum-exchange.ts'

export const keyExchanges: readonly string[] = [
  postQuantumExchange,
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
]

/** The types of signatures by which a client may prove that it has a key. */
const signatureTypes: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-256',
  'rsa-sha2-512',
])

/** True if a client may sign with this algorithm. ssh2 names RSA keys `ssh-rsa`, with the hash beside it. */
export function isAcceptedSignature(algorithm: string, hash: string | undefined): boolean {
  return algorithm === 'ssh-rsa' ? hash === 'sha256' || hash === 'sha512' : signatureTypes.has(algorithm)
}

/**
 * No chacha20-poly1305, which OpenSSH would prefer: it costs twice the processor time of AES-GCM here. The other ciphers are
 * for clients without GCM (see `patches/prefer-gcm.ts`). No compression, because one process would do it for all clients.
 */
const others = {
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} satisfies ssh2.Algorithms

/** Returns the lists for ssh2, whose types do not know {@link postQuantumExchange}. */
export function offeredAlgorithms(): ssh2.Algorithms {
  return { kex: [...keyExchanges] as ssh2.KexAlgorithm[], ...others }
}

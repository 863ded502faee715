import ssh2 from 'ssh2'
import { expect, it } from 'vitest'
import { generateKeyPair } from './generate-key-pair.ts'
import { readPublicKey } from './public-key.ts'

/** A key whose first byte is zero, as ssh2 writes it: 31 bytes. */
const tooShort = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAHzWuXJuYwEsBes8AHhQbGnL4RaK7F5j5UMJLwlzcVhk='

it.each(['ssh-ed25519', 'ecdsa-sha2-nistp256'] as const)('makes %s keys that clients can read', (type) => {
  const pair = generateKeyPair(type)
  expect(readPublicKey(pair.public)?.bytes.toString('base64')).toBe(pair.public.split(' ')[1])
  expect(ssh2.utils.parseKey(pair.private)).not.toBeInstanceOf(Error)
})

it('throws away a key that is too short, and a pair whose halves do not belong together', () => {
  const [one, other] = [generateKeyPair('ssh-ed25519'), generateKeyPair('ssh-ed25519')]
  const made = [{ ...one, public: tooShort }, { private: one.private, public: other.public }, one]
  expect(generateKeyPair('ssh-ed25519', () => made.shift()!)).toBe(one)
})

it('fails if the generator makes no valid key', () => {
  expect(() => generateKeyPair('ssh-ed25519', () => ({ private: '', public: tooShort }))).toThrow(
    '20 invalid keys in a row',
  )
})

/**
 * Adds the key exchange `mlkem768x25519-sha256` (draft-ietf-sshm-mlkem-hybrid-kex) to a server connection of ssh2, which
 * has no hook for key exchanges. Without it, OpenSSH 10 warns at every connection that the exchange is not post-quantum.
 *
 * ssh2 hands each packet to the function `_onPayload` of the connection's decipher. This file wraps that function. If
 * the client's KEXINIT chooses the hybrid exchange, ssh2 gets a copy of the packet in which `curve25519-sha256` stands in
 * its place, so that it makes its object for X25519. The methods of that object that differ are then replaced. The
 * exchange hash is computed over the packet that the client really sent.
 */
import {
  createHash,
  createPublicKey,
  diffieHellman,
  encapsulate,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import constants from 'ssh2/lib/protocol/constants.js'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

export const postQuantumExchange = 'mlkem768x25519-sha256'
const standIn = 'curve25519-sha256'

const kexInitType = 20
/** The list of exchanges follows the message's type and a cookie of 16 bytes. */
const listOffset = 17
const [mlkemKeyBytes, x25519KeyBytes] = [1184, 32]

type OnPayload = (payload: Buffer) => void
type Exchange = {
  _remoteKexinit?: Buffer | undefined
  convertPublicKey(key: Buffer): Buffer
  computeSecret(clientData: Buffer): Buffer | Error
  getPublicKey(): Buffer
}
type Protocol = {
  _onPayload: OnPayload
  _decipher: { _onPayload: OnPayload }
  _kex?: Exchange | undefined
}
export const payloadFields: PrivateFields = {
  usedBy: 'post-quantum-exchange.ts',
  fields: {
    '_protocol._onPayload': ['function', 'lib/protocol/Protocol.js'],
    '_protocol._decipher._onPayload': ['function', 'lib/protocol/crypto.js'],
    '_protocol._kex': ['present', 'lib/protocol/Protocol.js'],
  },
}
/** Fields of the object for one exchange. */
export const exchangeFields: PrivateFields = {
  usedBy: 'post-quantum-exchange.ts',
  fields: {
    _remoteKexinit: ['present', 'lib/protocol/kex.js'],
    convertPublicKey: ['function', 'lib/protocol/kex.js'],
    computeSecret: ['function', 'lib/protocol/kex.js'],
    getPublicKey: ['function', 'lib/protocol/kex.js'],
  },
}
const constantFields: PrivateFields = {
  usedBy: 'post-quantum-exchange.ts',
  fields: { SUPPORTED_KEX: ['object', 'lib/protocol/constants.js'] },
}

/** Lets servers of ssh2 offer the exchange. ssh2 refuses to offer names that are not in this list. */
export function registerPostQuantumExchange(): void {
  const { SUPPORTED_KEX } = privateFieldsOf<{ SUPPORTED_KEX: string[] }>(constants, constantFields)
  if (!SUPPORTED_KEX.includes(postQuantumExchange)) SUPPORTED_KEX.push(postQuantumExchange)
}

/** Makes a new server connection of ssh2 speak the exchange. Call it before its first packet is processed. */
export function installPostQuantumExchange(client: object, offered: readonly string[]): void {
  const { _protocol: protocol } = privateFieldsOf<{ _protocol: Protocol }>(client, payloadFields)
  const wrap =
    (inner: OnPayload): OnPayload =>
    (payload) => {
      const substitute = payload[0] === kexInitType ? replaceChoice(payload, offered) : null
      if (!substitute) return inner(payload)
      const original = Buffer.from(payload)
      inner(substitute)
      if (protocol._kex?._remoteKexinit === substitute) changeToHybrid(protocol._kex, original)
    }
  // The first exchange arrives through the decipher, and later ones through the function that new deciphers get.
  protocol._decipher._onPayload = wrap(protocol._decipher._onPayload)
  protocol._onPayload = wrap(protocol._onPayload)
}

/** Returns the KEXINIT with the stand-in instead of the hybrid exchange, or null if the client does not choose the hybrid one. */
const replaceChoice = (payload: Buffer, offered: readonly string[]): Buffer | null => {
  if (payload.length < listOffset + 4) return null
  const end = listOffset + 4 + payload.readUInt32BE(listOffset)
  if (end > payload.length) return null
  const names = payload.toString('latin1', listOffset + 4, end).split(',')
  if (names.find((name) => offered.includes(name)) !== postQuantumExchange) return null
  const list = Buffer.from(names.map((name) => (name === postQuantumExchange ? standIn : name)).join(','))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  return Buffer.concat([payload.subarray(0, listOffset), length, list, payload.subarray(end)])
}

const changeToHybrid = (exchange: Exchange, remoteKexinit: Buffer): void => {
  exchange._remoteKexinit = remoteKexinit
  let reply: Buffer | undefined
  // Both sides' data is hashed as it was sent.
  exchange.convertPublicKey = (key) => key
  exchange.computeSecret = (clientData) => {
    try {
      const answer = agree(clientData)
      reply = answer.reply
      return answer.secret
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
  }
  exchange.getPublicKey = () => {
    if (!reply) throw new Error('the shared secret is computed before the reply is sent')
    return reply
  }
}

/** Computes the reply and the shared secret from the client's ML-KEM-768 and X25519 public keys. */
const agree = (clientData: Buffer): { reply: Buffer; secret: Buffer } => {
  if (clientData.length !== mlkemKeyBytes + x25519KeyBytes) throw new Error('wrong length of the public keys')
  const kem = encapsulate(publicKeyOf(mlkemPrefix, clientData.subarray(0, mlkemKeyBytes)))
  const pair = generateKeyPairSync('x25519')
  const classical = diffieHellman({
    privateKey: pair.privateKey,
    publicKey: publicKeyOf(x25519Prefix, clientData.subarray(mlkemKeyBytes)),
  })
  const own = pair.publicKey.export({ type: 'spki', format: 'der' }).subarray(-x25519KeyBytes)
  return {
    reply: Buffer.concat([kem.ciphertext, own]),
    secret: createHash('sha256').update(kem.sharedKey).update(classical).digest(),
  }
}

/** The DER of a SubjectPublicKeyInfo up to the key's bytes. */
const mlkemPrefix = Buffer.from('308204b2300b0609608648016503040402038204a100', 'hex')
const x25519Prefix = Buffer.from('302a300506032b656e032100', 'hex')

const publicKeyOf = (prefix: Buffer, key: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([prefix, key]), type: 'spki', format: 'der' })

/**
 * Makes a server connection of ssh2 use AES-GCM with every client that knows it. The client's order decides, and OpenSSH
 * before 9.9 prefers AES-CTR with a hash of each packet, which costs three times the processor time. Clients without
 * GCM still need CTR. So our KEXINIT waits for the client's, and names only GCM if the client does.
 */
import { createSecretKey } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '@dock/foundation'
import type { Connection } from 'ssh2'
import exchange from 'ssh2/lib/protocol/kex.js'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

const gcm = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com']
const kexInitType = 20
/** The lists follow the message's type and a cookie of 16 bytes. Those of the ciphers are the third and the fourth. */
const listOffset = 17
/** Clients send their KEXINIT at once. A client that waits for ours gets it after this time, with all ciphers. */
const patienceMs = 1_000

type Names = { array: string[] }
type Direction = { cipher: Names; mac: Names; compress: Names; lang: Names }
type Offer = { lists: { kex: Names; serverHostKey: Names; cs: Direction; sc: Direction } }
type Protocol = {
  _offer: Offer
  _cipher: { encrypt(packet: Buffer): void }
  _decipher: { _onPayload(payload: Buffer): void }
}
export const offerFields: PrivateFields = {
  usedBy: 'prefer-gcm.ts',
  fields: {
    '_protocol._offer.lists.kex.array': ['object', 'lib/protocol/kex.js'],
    '_protocol._offer.lists.serverHostKey.array': ['object', 'lib/protocol/kex.js'],
    '_protocol._offer.lists.cs.cipher.array': ['object', 'lib/protocol/kex.js'],
    '_protocol._offer.lists.sc.cipher.array': ['object', 'lib/protocol/kex.js'],
    '_protocol._cipher.encrypt': ['function', 'lib/protocol/crypto.js'],
    '_protocol._decipher._onPayload': ['function', 'lib/protocol/crypto.js'],
  },
}
/** Fields of the ciphers for AES-GCM. */
export const cipherKeyFields: PrivateFields = {
  usedBy: 'prefer-gcm.ts',
  fields: { _encKey: ['object', 'lib/protocol/crypto.js'] },
}
export const decipherKeyFields: PrivateFields = {
  usedBy: 'prefer-gcm.ts',
  fields: { _decipherKey: ['object', 'lib/protocol/crypto.js'] },
}
const exchangeModuleFields: PrivateFields = {
  usedBy: 'prefer-gcm.ts',
  fields: { kexinit: ['function', 'lib/protocol/kex.js'] },
}
const { kexinit } = privateFieldsOf<{ kexinit(protocol: Protocol): void }>(exchange, exchangeModuleFields)

/** Call it when the client has said which version it speaks, before ssh2 sends its KEXINIT. */
export function preferGcm(client: Connection, socket: Socket, clock: Clock): void {
  const { _protocol: protocol } = privateFieldsOf<{ _protocol: Protocol }>(client, offerFields)
  const { _cipher: cipher, _decipher: decipher } = protocol
  const { encrypt } = cipher
  const { _onPayload: onPayload } = decipher
  let held: Buffer | undefined
  const send = (knowsGcm: boolean): void => {
    cancel()
    cipher.encrypt = encrypt
    decipher._onPayload = onPayload
    if (knowsGcm) {
      client.on('handshake', () => prepareKeys(protocol))
      client.on('rekey', () => prepareKeys(protocol))
      protocol._offer = onlyGcm(protocol._offer)
      kexinit(protocol)
    } else if (held) cipher.encrypt(held)
  }
  const cancel = clock.after(patienceMs, () => {
    if (!socket.destroyed) send(false)
  })
  socket.once('close', cancel)
  cipher.encrypt = (packet) => {
    held = packet
  }
  decipher._onPayload = (payload) => {
    send(namesGcm(payload))
    onPayload(payload)
  }
}

/** ssh2 makes a cipher of each packet's own. From a key object, that costs half of what it costs from bytes. */
const prepareKeys = ({ _cipher, _decipher }: Protocol): void => {
  for (const [owner, name] of [
    [_cipher, '_encKey'],
    [_decipher, '_decipherKey'],
  ] as const) {
    const key: unknown = Reflect.get(owner, name)
    if (Buffer.isBuffer(key)) Reflect.set(owner, name, createSecretKey(key))
  }
}

/** True if a KEXINIT names GCM for both directions. */
const namesGcm = (payload: Buffer): boolean => {
  if (payload[0] !== kexInitType) return false
  const lists: string[][] = []
  for (let at = listOffset; lists.length < 4; ) {
    if (at + 4 > payload.length) return false
    const end = at + 4 + payload.readUInt32BE(at)
    lists.push(payload.toString('latin1', at + 4, end).split(','))
    at = end
  }
  return lists.slice(2).every((names) => names.some((name) => gcm.includes(name)))
}

const onlyGcm = (offer: Offer): Offer => {
  const { lists } = offer
  const namesOf = ({ mac, compress, lang }: Direction) => ({
    cipher: gcm,
    mac: mac.array,
    compress: compress.array,
    lang: lang.array,
  })
  const names = {
    kex: lists.kex.array,
    serverHostKey: lists.serverHostKey.array,
    cs: namesOf(lists.cs),
    sc: namesOf(lists.sc),
  }
  return Reflect.construct(offer.constructor, [names])
}

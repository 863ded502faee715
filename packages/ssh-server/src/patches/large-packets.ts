/**
 * Lets a connection of ssh2 take packets of up to 256 KiB, as OpenSSH's server does. ssh2 ends a connection at a packet
 * of more than 35,000 bytes, and a long command is one packet. With AES-GCM, the length of a packet is readable before it
 * is decrypted. This file takes the length of a large packet itself, in the way of ssh2's decipher, which then goes on
 * with what follows. Other ciphers keep ssh2's limit.
 */
import { createDecipheriv, type KeyObject } from 'node:crypto'
import type { Connection } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

/** As OpenSSH's PACKET_MAX_SIZE. */
const packetBytesMax = 256 * 1024
/** What ssh2 takes by itself, without the parts that its limit counts too. */
const ordinaryBytesMax = 35_000 - 20
const [lengthBytes, blockBytes, tagBytes] = [4, 16, 16]

type Decipher = {
  decrypt(bytes: Buffer, from: number, to: number): number | undefined
  _decipherInstance: unknown
  _decipherSSLName: 'aes-128-gcm' | 'aes-256-gcm'
  _decipherKey: Buffer | KeyObject
  _decipherIV: Buffer
  /** Length of the packet under way, and the number of its own bytes that have arrived. */
  _len: number
  _lenBytes: number
  /** Bytes of the packet and of its tag that have arrived. */
  _pktLen: number
  _tagPos: number
}
type Protocol = {
  _decipher: object
  /** Returns where to go on in `bytes`, or undefined if everything was taken. */
  _parse(this: Protocol, bytes: Buffer, from: number, to: number): number | undefined
}
export const parserFields: PrivateFields = {
  usedBy: 'large-packets.ts',
  fields: {
    '_protocol._decipher.decrypt': ['function', 'lib/protocol/crypto.js'],
    '_protocol._parse': ['function', 'lib/protocol/Protocol.js'],
  },
}
/** Fields of the decipher for AES-GCM. */
export const gcmFields: PrivateFields = {
  usedBy: 'large-packets.ts',
  fields: {
    _decipherInstance: ['present', 'lib/protocol/crypto.js'],
    _decipherSSLName: ['present', 'lib/protocol/crypto.js'],
    _decipherKey: ['object', 'lib/protocol/crypto.js'],
    _decipherIV: ['object', 'lib/protocol/crypto.js'],
    _len: ['number', 'lib/protocol/crypto.js'],
    _lenBytes: ['number', 'lib/protocol/crypto.js'],
    _pktLen: ['number', 'lib/protocol/crypto.js'],
    _tagPos: ['number', 'lib/protocol/crypto.js'],
  },
}

const isGcm = (decipher: object): decipher is Decipher => {
  const { _decipherSSLName: name, ...rest } = decipher as Partial<Decipher>
  const numbers = [rest._len, rest._lenBytes, rest._pktLen, rest._tagPos]
  return (name?.endsWith('-gcm') ?? false) && numbers.every((each) => typeof each === 'number')
}

/** Call it once the client has signed in: strangers must not make this process hold large packets. */
export function takeLargePackets(client: Connection): void {
  const { _protocol: protocol } = privateFieldsOf<{ _protocol: Protocol }>(client, parserFields)
  const inner = protocol._parse
  protocol._parse = function (bytes, from, to) {
    const decipher = this._decipher
    if (!isGcm(decipher)) return inner.call(this, bytes, from, to)
    const large = findLarge(decipher, bytes, from, to)
    if (!large) return inner.call(this, bytes, from, to)
    const { at, body, length } = large
    // ssh2 may stop earlier, because keys have changed.
    if (at > from) return inner.call(this, bytes.subarray(0, at), from, at) ?? at
    begin(decipher, length)
    return body
  }
}

/** Returns where the first large packet begins in `bytes`, and where it goes on behind its length. */
const findLarge = (
  { _len, _lenBytes, _pktLen, _tagPos }: Decipher,
  bytes: Buffer,
  from: number,
  to: number,
): { at: number; body: number; length: number } | null => {
  const isUnderWay = _lenBytes === lengthBytes
  let at = isUnderWay ? from + _len - _pktLen + tagBytes - _tagPos : from
  // The length of a packet may arrive in pieces.
  let length = isUnderWay ? 0 : _len
  let missing = isUnderWay ? lengthBytes : lengthBytes - _lenBytes
  for (;;) {
    const body = at + missing
    if (body > to) return null
    for (let each = at; each < body; each += 1) length = length * 256 + bytes[each]!
    // ssh2 refuses it.
    if (length > packetBytesMax || length % blockBytes !== 0) return null
    if (length > ordinaryBytesMax) return { at, body, length }
    at = body + length + tagBytes
    length = 0
    missing = lengthBytes
  }
}

/** Does what ssh2's decipher does when it has read the length of a packet. */
const begin = (decipher: Decipher, length: number): void => {
  const authenticated = Buffer.alloc(lengthBytes)
  authenticated.writeUInt32BE(length)
  const { _decipherSSLName: name, _decipherKey: key, _decipherIV: nonce } = decipher
  const instance = createDecipheriv(name, key, nonce)
  instance.setAutoPadding(false)
  instance.setAAD(authenticated)
  decipher._decipherInstance = instance
  decipher._len = length
  decipher._lenBytes = lengthBytes
}

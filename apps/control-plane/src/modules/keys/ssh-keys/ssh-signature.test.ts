import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseSshPublicKey } from './ssh-public-key.ts'
import { isSshSignature } from './ssh-signature.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-sshsig-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const namespace = 'test@dock'
const message = Buffer.from('what is signed')
const makeKey = (name: string, ...options: string[]) => {
  const file = join(folder, name)
  execFileSync('ssh-keygen', ['-q', '-N', '', '-f', file, ...options])
  return { file, key: parseSshPublicKey(readFileSync(`${file}.pub`, 'utf8')) }
}
const sign = (file: string, ...options: string[]): string =>
  execFileSync('ssh-keygen', ['-Y', 'sign', '-n', namespace, '-f', file, ...options], {
    input: message,
    stdio: ['pipe', 'pipe', 'ignore'],
  }).toString()

describe.each([
  ['ed25519', '-t', 'ed25519'],
  ['ecdsa 256', '-t', 'ecdsa', '-b', '256'],
  ['ecdsa 384', '-t', 'ecdsa', '-b', '384'],
  ['ecdsa 521', '-t', 'ecdsa', '-b', '521'],
  ['rsa', '-t', 'rsa', '-b', '2048'],
])('a signature by a key of type %s', (type, ...options) => {
  it('is one of its message, key and namespace only', () => {
    const name = type.replace(' ', '-')
    const { file, key } = makeKey(name, ...options)
    const other = makeKey(`other-${name}`, ...options)
    // The numbers of ECDSA are shorter in one of 128 signatures.
    const signatures = Array.from({ length: type === 'ecdsa 256' ? 40 : 1 }, () => sign(file))
    for (const signature of signatures)
      expect(isSshSignature(signature, { key, namespace, message })).toBe(true)
    const [signature = ''] = signatures
    expect(isSshSignature(signature, { key, namespace, message: Buffer.from('else') })).toBe(false)
    expect(isSshSignature(signature, { key, namespace: 'git', message })).toBe(false)
    expect(isSshSignature(signature, { key: other.key, namespace, message })).toBe(false)
    // The same signature with the name of another key in it.
    const bytes = Buffer.from(signature.split('\n').slice(1, -2).join(''), 'base64')
    const at = bytes.indexOf(key.bytes)
    expect(at).toBeGreaterThan(0)
    const lent = Buffer.concat([
      ...[bytes.subarray(0, at - 4), lengthOf(other.key.bytes), other.key.bytes],
      bytes.subarray(at + key.bytes.length),
    ])
    expect(isSshSignature(armored(bytes), { key, namespace, message })).toBe(true)
    expect(isSshSignature(armored(lent), { key: other.key, namespace, message })).toBe(false)
  })
})

const lengthOf = (bytes: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return length
}
const armored = (bytes: Buffer): string =>
  `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----\n`

it('is accepted with the hash SHA-256, and with what a terminal shows around it', () => {
  const { file, key } = makeKey('around', '-t', 'ed25519')
  const signature = sign(file, '-O', 'hashalg=sha256')
  expect(isSshSignature(signature, { key, namespace, message })).toBe(true)
  const copied = `$ ssh-keygen …\r\nSigning data on standard input\r\n${signature.replaceAll('\n', '\r\n')}\r\n$ `
  expect(isSshSignature(copied, { key, namespace, message })).toBe(true)
})

it('is refused whatever byte is changed or missing', () => {
  const { file, key } = makeKey('changed', '-t', 'ed25519')
  const bytes = Buffer.from(sign(file).split('\n').slice(1, -2).join(''), 'base64')
  // `reserved` is empty, and is part of what is signed. So each byte counts.
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    expect(isSshSignature(armored(changed), { key, namespace, message })).toBe(false)
    expect(isSshSignature(armored(bytes.subarray(0, at)), { key, namespace, message })).toBe(false)
  }
  const longer = Buffer.concat([bytes, Buffer.from([0])])
  expect(isSshSignature(armored(longer), { key, namespace, message })).toBe(false)
  for (const text of ['', 'nonsense', armored(Buffer.alloc(0)), armored(Buffer.alloc(400, 0xff))])
    expect(isSshSignature(text, { key, namespace, message })).toBe(false)
})

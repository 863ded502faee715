import { bytesOfString, isUsualRsaKey } from '@dock/ssh-server'
import { describe, expect, it } from 'vitest'
import { parseSshPublicKey } from './ssh-public-key.ts'

const ed25519 = 'AAAAC3NzaC1lZDI1NTE5AAAAIJq6rttSETtvk4dVDq3qNvtoAVSEcEj61qKv2GdkERYr'
const ecdsa =
  'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJ63CL5+t+9dZr217ei/NhbpgmEXqD9FMOB1fgfhjUpuWrJkHITh5+UmBozLovoRE2X3Ii6dCKFTBlAHz8yHCAw='
const rsa =
  'AAAAB3NzaC1yc2EAAAADAQABAAABgQCjq0RrqGdXJS3FCVPjG2RgxXKxIqiw+9TSU26YfiTP6XhVH3bSzFHhYh+twqx1KP/eueK7tp+1StBce90mHjld1tDj+GS/vB0CFFCPx0uONR77QfmZvd7fl7o4ByvxJwcGOTD1SHcj9FO8cJ0sgO8FO8pXAdBnqk1/nRZjmKFFzOJRvs/7gxKl4xDr0yvD3LFkPhrgEKMaV7ylUUjvTRrfhceZh93ltwhdUEK0uWHy/KexSgdDHkjMmMAezTEEyYIDh5ICiACUvyVkyn7heJT8PK6fgJ9mT34clsL1c2sRxGEItXr2kehH2J81o8AuRkASqtmH17zaRpszTNB/aCRmsXgXWRbx9UXUBcI+fNrmSvOYmWGwZE4+WzKprIdSjtgPfzXca7dd197mzT4iEDkgI88eJrJ62qhOAWjLQHUXA8Trso78WsM5wrWAorTCg2QccZdsYqKp8EOcJOkDpBx41lq+hKaLy5DFrRdHtGC0krHxI4aEyw2oU3HqxRd1v88='
const rsa1024 =
  'AAAAB3NzaC1yc2EAAAADAQABAAAAgQCzkQyeIC8u3TUEsyG64yKfKD0jbDYlSHh+bzQhIFxLDJGr363SB8huufy4mZyHMY7KqT9Yc3FRp56i2nihtPFoFjTlmlvlTdvZvpdk04o7U3GMFep7TW3T6N2BJxBvpH44m1gZQnvUFrsTiYk3ZA5KUvpI8P4wu+dJ9OnnlDN+pw=='

describe('a public key', () => {
  // Fingerprints printed by `ssh-keygen -lf`.
  it.each([
    ['ssh-ed25519', ed25519, 'SHA256:REC5JXG6oa527gF8ntL7TThsTTF7e7dGhzPim9VGnUQ'],
    ['ecdsa-sha2-nistp256', ecdsa, 'SHA256:BLMi7UiXCX/U9ji2c0wvVJkNUFDN6q4DzkMo/GRsDBY'],
    ['ssh-rsa', rsa, 'SHA256:bWLHyrLXbSFeq2aNvBy7P4zFofE25ynjy6nWDt0ttd4'],
  ])('of type %s has the fingerprint that ssh-keygen prints', (type, key, fingerprint) => {
    expect(parseSshPublicKey(` ${type}  ${key}\tme@here  x \n`)).toMatchObject({
      line: `${type} ${key} me@here x`,
      fingerprint,
    })
    expect(parseSshPublicKey(`${type} ${key}`).fingerprint).toBe(fingerprint)
  })

  it.each([
    ['nonsense', 'must begin with'],
    ['', 'must begin with'],
    [ed25519, 'must begin with'],
    ['ssh-ed25519', 'not a valid OpenSSH public key'],
    [`ssh-ed25519 ${ed25519.slice(0, -4)}`, 'not a valid OpenSSH public key'],
    [`ssh-ed25519 ${ed25519}AAAA`, 'not a valid OpenSSH public key'],
    [`ssh-ed25519 ${ecdsa}`, 'not a valid OpenSSH public key'],
    [`ssh-rsa ${rsa.slice(0, -20)}`, 'not a valid OpenSSH public key'],
    [`ecdsa-sha2-nistp256 ${ecdsa.replace('J63CL5', 'J63CL6')}`, 'not a valid OpenSSH public key'],
    [`ssh-rsa ${rsa1024}`, 'at least 2048 bits'],
    [`ssh-dss ${rsa}`, 'must begin with'],
    [`command="true" ssh-ed25519 ${ed25519}`, 'must begin with'],
    [`ssh-ed25519 ${ed25519}\nssh-ed25519 ${ed25519}`, 'must be one line'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', 'is a private key'],
    ['ssh-ed25519 ../../etc/passwd', 'not a valid OpenSSH public key'],
  ])('is refused: %.40s', (text, why) => {
    expect(() => parseSshPublicKey(text)).toThrow(why)
    expect(() => parseSshPublicKey(text)).toThrow(expect.objectContaining({ code: 'validation_error' }))
  })
})

describe('an RSA key whose signatures take long to verify', () => {
  const mpint = (bytes: Buffer): Buffer => bytesOfString(Buffer.concat([Buffer.from([0]), bytes]))
  const keyOf = (exponent: Buffer, bits: number): Buffer =>
    Buffer.concat([
      bytesOfString(Buffer.from('ssh-rsa')),
      bytesOfString(exponent),
      mpint(Buffer.alloc(bits / 8, 0xff)),
    ])
  const usual = Buffer.from([1, 0, 1])

  it.each([
    ['a long exponent', keyOf(Buffer.alloc(383, 0x7f), 3072)],
    ['an exponent above the usual one', keyOf(Buffer.from([1, 0, 3]), 3072)],
    ['a modulus of more than 8192 bits', keyOf(usual, 8200)],
  ])('is refused: %s', (_, bytes) => {
    expect(isUsualRsaKey(bytes)).toBe(false)
    expect(() => parseSshPublicKey(`ssh-rsa ${bytes.toString('base64')}`)).toThrow('at most 8192 bits')
  })

  it.each([
    [3, 2048],
    [37, 4096],
    [65_537, 8192],
  ])('is none with the exponent %d and %d bits', (exponent, bits) => {
    const bytes = Buffer.from(exponent.toString(16).padStart(exponent > 255 ? 6 : 2, '0'), 'hex')
    expect(isUsualRsaKey(keyOf(bytes, bits))).toBe(true)
  })

  it('is no key that is cut off', () => {
    expect(isUsualRsaKey(keyOf(usual, 2048).subarray(0, 20))).toBe(false)
  })
})

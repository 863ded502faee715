/** Which URLs may be sent to, by their text. */
import { acceptedUrls, refusedUrls } from '@dock/testkit/src/public-web/url-vectors.ts'
import { describe, expect, it } from 'vitest'
import { checkPublicUrl } from './public-url.ts'

const isAccepted = (text: string, allowLoopback = false): boolean =>
  !('problem' in checkPublicUrl(text, { allowLoopback }))

describe('refused', () => {
  it.each(refusedUrls)('%j: %s', (text) => {
    const checked = checkPublicUrl(text)
    expect(checked).toEqual({ problem: expect.stringMatching(/^[A-Z].*\.$/) })
  })
})

describe('accepted', () => {
  it.each(acceptedUrls)('%j: %s', (text) => expect(isAccepted(text)).toBe(true))
})

describe('in development', () => {
  it.each([
    ['http://localhost:3000/', 'http and a port'],
    ['http://127.0.0.1:3000/', 'an address'],
    ['https://127.1.2.3:8443/', 'https on another port'],
    ['http://[::1]:3000/', 'an address of IPv6'],
    ['https://hooks.localhost/', 'a name below localhost'],
  ])('accepts %s: %s', (text) => {
    expect(isAccepted(text, true)).toBe(true)
    expect(isAccepted(text, false)).toBe(false)
  })

  it.each([
    ['http://hooks.example.com/', 'http to a public name'],
    ['https://hooks.example.com:8443/', 'a port of a public name'],
    ['http://10.0.0.1:3000/', 'a private address'],
    ['https://10.0.0.1/', 'a private address'],
    ['https://[::ffff:127.0.0.1]/', 'an address that carries loopback'],
    ['http://0.0.0.0:3000/', 'the unspecified address'],
    ['ws://localhost:3000/', 'another scheme'],
    ['http://user@localhost:3000/', 'a user'],
    ['http://localhost.:3000/', 'a trailing dot'],
  ])('refuses %s: %s', (text) => expect(isAccepted(text, true)).toBe(false))
})

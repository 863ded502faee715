import { beforeEach, expect, it, vi } from 'vitest'
import { afterSignIn } from './after-sign-in.ts'

const origin = 'https://dock.example.test'
beforeEach(() => void vi.stubGlobal('location', new URL(`${origin}/sign-in`)))

it.each([
  '/docks',
  '/invitations/abc_-1',
  '/device?code=WXYZ-1234',
  '/docks?state=ready#top',
  '/api/auth/verify-email?token=a.b.c&callbackURL=https%3A%2F%2Fdock.example.test%2Forganizations',
  '/docks/a//b',
])('goes on to %s', (next) => {
  expect(afterSignIn(next)).toBe(next)
})

it.each([
  undefined,
  '',
  'docks',
  'https://evil.test/',
  'javascript:alert(1)',
  '//evil.test/',
  '///evil.test/',
  '/\\evil.test/',
  '\\/evil.test/',
  '/\t/evil.test/',
  '/\n/evil.test/',
  '/.//evil.test/login',
  '/./\\evil.test/',
  '/.\\/evil.test/',
  '/..//evil.test/',
  '/x/..//evil.test/',
  '/x/../..//evil.test/',
  '/%2e//evil.test/',
  '/%2E%2e//evil.test/',
  '/.\t//evil.test/',
  '//[/',
])('goes to the start page instead of %j', (next) => {
  expect(afterSignIn(next)).toBe('/')
})

it.each(['/.//evil.test/', '/docks', '/x/..//evil.test/', '/@evil.test/', '/:80/'])(
  'never leaves this site for %s',
  (next) => {
    expect(new URL(afterSignIn(next), location.href).origin).toBe(origin)
  },
)

import { expect, it } from 'vitest'
import { isRawApiKey, newRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

it('creates unique keys in the documented format', () => {
  const keys = new Set(Array.from({ length: 50 }, newRawApiKey))
  expect(keys.size).toBe(50)
  for (const key of keys) {
    expect(key).toMatch(/^dock_[0-9A-Za-z]{49}$/)
    expect(isRawApiKey(key)).toBe(true)
    expect(prefixOfApiKey(key)).toHaveLength(13)
  }
})

it('detects a mistyped key without a database lookup', () => {
  const key = newRawApiKey()
  for (let at = 5; at < key.length; at += 1) {
    const other = key[at] === 'a' ? 'b' : 'a'
    expect(isRawApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
  }
  expect(isRawApiKey('')).toBe(false)
  expect(isRawApiKey(`${key} `)).toBe(false)
})

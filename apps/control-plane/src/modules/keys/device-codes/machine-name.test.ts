import { routes } from '@dock/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cleanMachineName } from './machine-name.ts'

it('keeps ordinary names of any script', () => {
  for (const name of ['laptop', 'Büro-PC 2', 'مكتب', '研究室', 'ci@build-7.example.com'])
    expect(cleanMachineName(name)).toBe(name)
})

it('removes what could deceive a reader', () => {
  expect(cleanMachineName('lap\u202etop\u200b\u0007\ufeff')).toBe('laptop')
  expect(cleanMachineName('two\nlines\t and\u2028more')).toBe('two lines and more')
  expect(cleanMachineName(`a${'\u0301'.repeat(50)}b`).length).toBeLessThan(6)
  expect([...cleanMachineName('x'.repeat(255))]).toHaveLength(60)
  expect(cleanMachineName('\u202e\u200b \u{e0041}')).toBe('machine')
})

it('returns a valid name of a key, whatever a machine calls itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), (text) => {
      expect(routes.createApiKey.body.safeParse({ name: cleanMachineName(text) }).success).toBe(true)
    }),
  )
})

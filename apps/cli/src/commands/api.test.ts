import { expect, it } from 'vitest'
import { apiAddress } from './api.ts'

it('keeps the query of the path, and adds fields', () => {
  expect(apiAddress('https://a.test/base', '/v1/docks?all=true', [['x', 'a b']]).href).toBe(
    'https://a.test/base/v1/docks?all=true&x=a+b',
  )
})

it.each(['v1/docks', '//evil.test/v1', 'https://evil.test/', '@evil.test', '/\\evil.test'])(
  'sends no key to %s',
  (path) => {
    try {
      expect(apiAddress('https://a.test', path, []).origin).toBe('https://a.test')
    } catch (error) {
      expect(String(error)).toContain('PATH')
    }
  },
)
